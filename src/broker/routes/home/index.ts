// `/`: the tenants of the person, or the welcome page; and the style sheet, the icon and the script of all pages.
import { isAppError } from '../../../lib/errors.ts'
import { compareText } from '../../../lib/text/compare-text.ts'
import type { WebServer } from '../../../web/server.ts'
import type { BrokerContext } from '../../context.ts'
import { homePage, welcomePage } from '../../pages/home.ts'
import { icon } from '../../pages/icon.ts'
import { refreshScript } from '../../pages/refresh-script.ts'
import { styleSheet } from '../../pages/style.ts'
import { heldTenants } from '../../people/tenant-access.ts'
import { sendPage } from '../pages.ts'

/** `/`: the tenants of the signed-in person, or the invitation to sign in. */
export function registerHome(
  server: WebServer,
  { sessions, people, platformAdmins, auditReaders, tenants, haltOfTenant, settings, log }: BrokerContext,
): void {
  server.get('/', async (request, reply) => {
    const person = await sessions.personOf(request)
    if (person === undefined) return sendPage(reply, welcomePage())
    const identity = { subject: person.subject, groups: await people.shownGroups(person.host, person.userId) }
    const held = heldTenants(identity, tenants.list())
      .toSorted((a, b) => compareText(a.tenant.metadata.name, b.tenant.metadata.name))
      .map(one => ({ ...one, halt: haltOfTenant(one.tenant) }))
    const unknown = (error: unknown): false => {
      if (!isAppError(error)) throw error
      log.info({ code: error.code }, 'the first page does not show which offices the person has')
      return false
    }
    const platformAdmin = await platformAdmins.includes(identity).catch(unknown)
    const auditor = await auditReaders.ofAll(identity).catch(unknown)
    return sendPage(reply, homePage({ person, held, issuer: settings.publicUrl.origin, platformAdmin, auditor }))
  })

  const hour = 'public, max-age=3600'
  const files = [
    { path: '/style.css', type: 'text/css; charset=utf-8', content: styleSheet, cached: hour },
    { path: '/icon.svg', type: 'image/svg+xml', content: icon, cached: hour },
    // Its path changes with its content.
    { ...refreshScript, type: 'text/javascript; charset=utf-8', cached: 'public, max-age=31536000, immutable' },
  ]
  for (const { path, type, content, cached } of files)
    server.get(path, async (_request, reply) => reply.header('cache-control', cached).type(type).send(content))
}
