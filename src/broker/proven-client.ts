// Says which person a request comes from, for limits only: by an ID token of ours, or by a browser in which the person signed
// in before. Both are checked by signature alone, so a flood of wrong ones costs no read of the store. What a route allows is
// decided by the route.
import type { ProvenClient } from '../web/clients/client-key.ts'
import type { BrokerContext } from './context.ts'

const bearer = /^Bearer ([A-Za-z0-9_.-]{20,8192})$/i

/** The subject of the person, or undefined for strangers. */
export function createProvenClient({
  knownBrowsers,
  verifyIdToken,
}: Pick<BrokerContext, 'knownBrowsers' | 'verifyIdToken'>): ProvenClient {
  return async request => {
    const known = knownBrowsers.subjectOf(request)
    if (known !== undefined) return known
    const token = bearer.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) return undefined
    return verifyIdToken(token).then(
      ({ subject }) => subject,
      // The route refuses it; here it counts as a stranger's.
      () => undefined,
    )
  }
}
