/** Hand a text to the person as a file. */
export function save(name: string, text: string, kind: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** Return the drawing of an SVG element as a file of its own, with the styles that it is seen with. */
export function svgText(element: SVGSVGElement): string {
  const copy = element.cloneNode(true) as SVGSVGElement;
  const [own, copied] = [element.querySelectorAll("*"), copy.querySelectorAll("*")];
  own.forEach((each, place) => {
    const seen = getComputedStyle(each);
    for (const name of [
      "fill",
      "stroke",
      "stroke-width",
      "stroke-dasharray",
      "font-size",
      "font-family",
    ]) {
      copied[place]?.setAttribute(name, seen.getPropertyValue(name));
    }
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const box = element.getBoundingClientRect();
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  return new XMLSerializer().serializeToString(copy);
}

/** Draw an SVG element as PNG and hand it to the person. */
export async function savePng(name: string, element: SVGSVGElement): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(element))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * 2;
  canvas.height = image.height * 2;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const link = document.createElement("a");
  link.href = canvas.toDataURL("image/png");
  link.download = name;
  link.click();
}
