// Refuses a query parameter of the API that its route does not know: a filter with a mistyped name would otherwise return
// everything, as if it had been asked for.
import { AppError } from '../../../lib/errors.ts'
import { asObject, objectAt } from '../../../lib/json/json-value.ts'
import { printable } from '../../../lib/text/printable.ts'
import type { WebServer } from '../../../web/server.ts'

/** For every route below `/api/v1/`, whenever it is registered. Pages take what links of others add to them. */
export function refuseUnknownParameters(server: WebServer): void {
  server.addHook('preValidation', async request => {
    const { url = '', schema } = request.routeOptions
    if (!url.startsWith('/api/v1/')) return
    const known = Object.keys(objectAt(asObject(schema?.querystring), 'properties') ?? {})
    const unknown = Object.keys(asObject(request.query) ?? {}).find(name => !known.includes(name))
    if (unknown === undefined) return
    const name = printable(unknown).slice(0, 60)
    const takes = known.length === 0 ? 'no query parameter' : known.join(', ')
    throw new AppError('invalid_request', `there is no query parameter ${name}: ${url} takes ${takes}`)
  })
}
