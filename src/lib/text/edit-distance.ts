// How far two words are from each other, for what somebody may have meant. Pure.

/** The number of letters to insert, remove, replace or swap with the next one (Damerau–Levenshtein, restricted). */
export function editDistance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, column) => column)]
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? 0
  for (let row = 1; row <= left.length; row += 1) {
    const line = [row]
    rows.push(line)
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1]
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      line[column] = Math.min(
        cell(row - 1, column) + 1,
        (line[column - 1] ?? 0) + 1,
        cell(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? cell(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
  }
  return cell(left.length, right.length)
}
