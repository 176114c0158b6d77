// The forms in which people keep signed checkpoints of the audit log: one statement per line, the lines that the platform writes
// to a folder or bucket, or its ConfigMap in the form of `kubectl get -o json`. Pure; it verifies nothing.
import { AppError } from '../../lib/errors.ts'
import { asObject, objectAt, parseJson, textAt } from '../../lib/json/json-value.ts'
import { type CheckpointKeys, mergedKeys } from './audit-checkpoint.ts'

const keysField = 'keys.json'

/** Statements, and the keys that are kept with them: whoever kept the file vouches for those. */
export type KeptStatements = { readonly statements: readonly string[]; readonly kept: readonly CheckpointKeys[] }

/** Statements as they are, none of them verified. Throws `invalid_request` for JSON that is neither of the forms. */
export function keptStatements(text: string): KeptStatements {
  if (!text.trimStart().startsWith('{')) return { statements: text.split(/\s+/).filter(line => line !== ''), kept: [] }
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const kept = lines.flatMap(line => keptLine(line) ?? [])
  if (kept.length > 0 && kept.length === lines.length)
    return {
      statements: kept.map(({ statement }) => statement),
      kept: [mergedKeys({ keys: kept.flatMap(({ key }) => key ?? []) })],
    }
  const data = dataOf(text)
  const statements = Object.entries(data).flatMap(([name, value]) => (/^(entry|lost)-/.test(name) ? [value] : []))
  const keySet = data[keysField]
  return { statements, kept: keySet === undefined ? [] : [JSON.parse(keySet) as CheckpointKeys] }
}

/** A line of the checkpoints that the platform writes to a folder or a bucket: the statement, with the key that signed it. */
function keptLine(
  text: string,
): { readonly statement: string; readonly key: CheckpointKeys['keys'][number] | undefined } | undefined {
  const line = asObject(parseJson(text))
  const statement = textAt(line, 'checkpoint')
  return statement === undefined
    ? undefined
    : { statement, key: objectAt(line, 'key') as CheckpointKeys['keys'][number] | undefined }
}

function dataOf(text: string): Readonly<Record<string, string>> {
  const data = objectAt(parseJson(text), 'data')
  if (data !== undefined && Object.values(data).every(value => typeof value === 'string'))
    return data as Readonly<Record<string, string>>
  throw new AppError('invalid_request', 'the checkpoint file begins with { but is not a ConfigMap with data in JSON')
}
