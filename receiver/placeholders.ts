// `?` in SQL to `$1`, `$2`, …, as Postgres wants them. Quoted text and comments stay as they are.

/** In order: text, name, comment to the end of line, comment, dollar-quoted text, placeholder. */
const PIECES =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$[A-Za-z_]*\$)[\s\S]*?\1|\?/g;

export function numberedPlaceholders(sql: string): string {
  let count = 0;
  return sql.replaceAll(PIECES, (piece) => {
    if (piece !== '?') return piece;
    count += 1;
    return `$${count}`;
  });
}
