// Owns: reading the description of a fault. Pure.
import type { Fault } from '../faults.ts'
import { invalidField } from '../rest/answer.ts'
import type { Fields } from '../rest/body.ts'

const headersOf = (fields: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields.optionalRecord('headers') ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )

/** The fault and for how many uses it is armed (default 1, at most 10000). */
export const faultOf = (fields: Fields): { readonly fault: Fault; readonly times: number } => {
  const times = fields.optionalNumber('times') ?? 1
  if (times < 1 || times > 10_000) throw invalidField('Fault', 'times', 'invalid')
  switch (fields.optionalOneOf('kind', ['rest-status', 'wider-token', 'lost-webhook'])) {
    case 'rest-status': {
      const status = fields.optionalNumber('status') ?? 0
      if (status < 400 || status > 599) throw invalidField('Fault', 'status', 'invalid')
      const method = fields.optionalText('method', 10) ?? ''
      return { fault: { kind: 'rest-status', method, path: fields.text('path', 500), status, headers: headersOf(fields) }, times }
    }
    case 'wider-token':
      return { fault: { kind: 'wider-token' }, times }
    case 'lost-webhook':
      return { fault: { kind: 'lost-webhook', event: fields.optionalText('event', 60) ?? '' }, times }
    case undefined:
      throw invalidField('Fault', 'kind', 'missing_field')
  }
}
