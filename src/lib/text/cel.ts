// Literals of CEL, which policies, schemas and the API server's authorization file are written with.
// Source: https://github.com/cel-expr/cel-spec/blob/master/doc/langdef.md#string-and-bytes-values

/** A list of string literals. */
export function celList(values: readonly string[]): string {
  return `[${values.map(celText).join(', ')}]`
}

/** A string literal. */
export function celText(value: string): string {
  return `'${value.replace(/[\\']/g, character => `\\${character}`)}'`
}
