document.querySelectorAll("table.sortable").forEach(function (table) {
  var heads = table.tHead.rows[0].cells;
  Array.prototype.forEach.call(heads, function (head, place) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.appendChild(button);
    button.addEventListener("click", function () {
      var up = head.getAttribute("aria-sort") === "descending";
      Array.prototype.forEach.call(heads, function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      var body = table.tBodies[0];
      Array.prototype.slice.call(body.rows).map(function (row, number) {
        var cell = row.cells[place];
        var given = cell.dataset.value;
        return { row: row, number: number, is: given !== undefined || cell.textContent !== "—",
          value: given === undefined ? cell.textContent.toLowerCase() : Number(given) };
      }).sort(function (a, b) {
        if (a.is !== b.is) { return a.is ? -1 : 1; }
        var order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
        return (up ? order : -order) || a.number - b.number;
      }).forEach(function (item) { body.appendChild(item.row); });
    });
  });
});
