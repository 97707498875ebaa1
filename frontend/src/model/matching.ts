/** Which names fit what is typed: those that begin with it first, then those that hold it. */
export function matching(names: readonly string[], typed: string, most: number): string[] {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return names.slice(0, most);
  const begin: string[] = [];
  const hold: string[] = [];
  for (const name of names) {
    const place = name.toLowerCase().indexOf(wanted);
    if (place === 0) begin.push(name);
    else if (place > 0) hold.push(name);
  }
  return [...begin, ...hold].slice(0, most);
}
