// Reads the description of a fault to arm. faults/kinds.ts has the parameters of each kind and their bounds.
import { Value } from 'typebox/value'
import { type Fault, faultKinds, isFaultKind } from '../faults/kinds.ts'
import { invalidField } from '../rest/protocol/answer.ts'
import { type Fields, fieldsOf } from '../rest/protocol/body.ts'

export type Arming = {
  readonly fault: Fault
  /** `null`: any number of uses. */
  readonly times: number | null
  readonly seconds: number | undefined
}

const maxTimes = 10_000
const maxSeconds = 86_400

function bounded(fields: Fields, name: 'times' | 'for', most: number): number | undefined {
  const value = fields.optionalNumber(name)
  if (value !== undefined && (value < 1 || value > most)) throw invalidField('Fault', name, 'invalid')
  return value
}

/** The field that the first error is about. */
function wrongField(kind: keyof typeof faultKinds, parameters: Readonly<Record<string, unknown>>): string | undefined {
  const [error] = Value.Errors(faultKinds[kind], parameters)
  if (error === undefined) return undefined
  const named = error.instancePath.split('/')[1]
  if (named !== undefined && named !== '') return named
  const { params } = error
  const [missing] =
    'requiredProperties' in params
      ? params.requiredProperties
      : 'additionalProperties' in params
        ? params.additionalProperties
        : []
  return missing ?? 'kind'
}

function lowerCaseHeaders(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { headers } = parameters
  if (typeof headers !== 'object' || headers === null) return parameters
  return {
    ...parameters,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  }
}

/**
 * The fault, for how many uses (`times`, at most 10000) and for how long (`for`, seconds, at most a day). Without both: one
 * use; with `for` only: any number of uses in that time. A wrong field is refused with 422 and its name.
 */
export function faultOf(body: unknown): Arming {
  const fields = fieldsOf(body, 'Fault')
  const kind = fields.text('kind', 60)
  if (!isFaultKind(kind)) throw invalidField('Fault', 'kind', 'invalid')
  const times = bounded(fields, 'times', maxTimes)
  const seconds = bounded(fields, 'for', maxSeconds)
  const {
    kind: _kind,
    times: _times,
    for: _for,
    ...given
  }: Readonly<Record<string, unknown>> = { ...(typeof body === 'object' ? body : {}) }
  const parameters = lowerCaseHeaders(given)
  const wrong = wrongField(kind, parameters)
  if (wrong !== undefined) throw invalidField('Fault', wrong, 'invalid')
  // The schema of this kind has just been checked.
  const fault = { kind, ...parameters } as Fault
  return { fault, times: times ?? (seconds === undefined ? 1 : null), seconds }
}
