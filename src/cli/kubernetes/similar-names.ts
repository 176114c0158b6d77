// What a person may have meant who typed a name that does not exist. Pure.
import { editDistance } from '../../lib/text/edit-distance.ts'

/**
 * `; did you mean shop?`, or an empty text when no name is close. Long names are not compared: nobody mistypes them by a
 * letter.
 */
export function didYouMean(name: string, names: readonly string[]): string {
  const most = Math.max(1, Math.floor(name.length / 3))
  const [best] = names
    .filter(other => other.length <= 100 && name.length <= 100)
    .map(other => ({
      other,
      far: other.startsWith(name) && name.length >= 2 ? 1 : editDistance(name.toLowerCase(), other.toLowerCase()),
    }))
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far)
  return best === undefined ? '' : `; did you mean ${best.other}?`
}
