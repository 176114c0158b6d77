// That a tenant is halted, as its people see it: since when, by whom, why, and who ends it. Pure. Why everything is halted
// is said to nobody but platform admins: it is about others, too.
import type { Halt } from '../../../api/github/halt.ts'
import { platformNamespace } from '../../../api/names.ts'
import { type Html, html } from '../../../web/html.ts'
import { shortText, time } from '../table.ts'

/** Undefined for a tenant that is not halted. */
export function haltNotice(halt: Halt | undefined): Html | undefined {
  if (halt === undefined) return undefined
  const { metadata, spec } = halt
  const isOfPlatform = metadata.namespace === platformNamespace
  const isAboutOthers = isOfPlatform && spec.target.type !== 'Tenant'
  const by = isAboutOthers ? undefined : html` (<code>${shortText(spec.requestedBy, 150)}</code>)`
  const why = isAboutOthers ? undefined : html`: ${shortText(spec.reason)}`
  const who = isOfPlatform ? 'a platform admin' : 'an admin of the tenant'
  const pods = spec.workloads === 'ScaleToZero' ? 'its Applications run no pods' : 'what is deployed runs on'
  return html`<p role="alert"><strong>This tenant is halted</strong> since ${time(metadata.creationTimestamp ?? '', 'sentence')} by ${who}${by}${why}.
Nothing gets a token, and ${pods}. ${isOfPlatform ? 'A platform admin' : 'An admin of the tenant'} ends it (<code>sekisho resume ${metadata.name}</code>); then everything is as before.</p>`
}
