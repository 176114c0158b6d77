// Keys of labels and annotations that belong to the platform, in CEL; in TypeScript: `isReservedKey` (src/api/names.ts).
import { domain } from '../../../api/kind.ts'
import { celText } from '../../rule.ts'

/** The CEL twin of `isReservedKey`, of a text; also for the apiVersion of an owner, whose group has the same form. */
export function reservedKeyExpression(key: string): string {
  return `(${key}.startsWith(${celText(`${domain}/`)}) || ${key}.contains(${celText(`.${domain}/`)}))`
}
