// The page on which the owner of an App changes its permissions and events.
import type { FastifyInstance } from 'fastify'
import type { ActionContext } from '../../actions/context.ts'
import { changeAppPermissions } from '../../actions/installation-permissions.ts'
import { administers } from '../../state/access.ts'
import { type App, type PermissionLevel, type Permissions, permissionLevels } from '../../state/apps.ts'
import { appBySlug } from '../../state/github-state.ts'
import { Refusal } from '../../state/refusal.ts'
import { type PageCall, type PageResult, pagesOf } from '../browser.ts'
import { html } from '../html.ts'
import { formToken, page } from '../layout.ts'

const maxLines = 100

function ownApp({ context, params, visitor }: PageCall): App {
  const app = appBySlug(context.state, params['slug'] ?? '')
  if (!app || !administers(context.state, visitor.user.id, app.ownerId))
    throw new Refusal(404, 'There is no such App, or you do not own it.')
  return app
}

function show(call: PageCall): PageResult {
  const app = ownApp(call)
  const permissions = Object.entries(app.permissions).map(([name, level]) => `${name}: ${level}`)
  return page(
    `Settings of ${app.name}`,
    call.visitor,
    html`<form method="post" action="/settings/apps/${app.slug}">${formToken(call.visitor)}
<p><label>Permissions, one <code>name: level</code> per line <textarea name="permissions" rows="10">${permissions.join('\n')}</textarea></label></p>
<p><label>Events, one per line <textarea name="events" rows="10">${app.events.join('\n')}</textarea></label></p>
<p>Accounts that installed the App must accept new permissions; removed permissions end at once.</p><button>Save changes</button></form>`,
  )
}

function linesOf(text: string | undefined): readonly string[] {
  const lines = (text ?? '').split(/\r?\n/).flatMap(line => (line.trim() === '' ? [] : [line.trim()]))
  if (lines.length > maxLines) throw new Refusal(422, `More than ${maxLines} lines.`)
  return lines
}

function permissionOfLine(line: string): readonly [string, PermissionLevel] {
  const [, name, word] = /^([a-z_]{1,60}): *([a-z]+)$/.exec(line) ?? []
  const level = permissionLevels.find(one => one === word && one !== 'none')
  if (name === undefined || level === undefined)
    throw new Refusal(422, `"${line.slice(0, 80)}" is not a permission; write "name: read", "name: write" or "name: admin".`)
  return [name, level]
}

function save(call: PageCall): PageResult {
  const app = ownApp(call)
  const permissions: Permissions = Object.fromEntries(linesOf(call.posted.one('permissions')).map(permissionOfLine))
  const events = linesOf(call.posted.one('events'))
  if (events.some(one => !/^[a-z_]{1,60}$/.test(one))) throw new Refusal(422, 'An event is a word of lower-case letters.')
  changeAppPermissions(call.context, app, permissions, events)
  return { redirect: `/settings/apps/${app.slug}` }
}

export function registerAppSettings(server: FastifyInstance, context: ActionContext): void {
  const pages = pagesOf(server, context)
  pages.get('/settings/apps/:slug', show)
  pages.post('/settings/apps/:slug', save)
}
