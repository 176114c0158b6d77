// The reference page of the GitHub emulator: its routes and what each is checked by, its webhooks, faults, limits. Made from the tables
// that the emulator itself and its contract tests run by, so that it cannot say anything else.
import { areas } from '../github/contract/areas.ts'
import { type DescribedRoute, type DescriptionName, descriptionsOf, openDescription } from '../github/contract/description.ts'
import { webhookEvents } from '../github/contract/webhook-events.ts'
import { describeFault, type FaultKind, faultKinds } from '../github/faults/kinds.ts'
import { createRateLimiter } from '../github/rest/protocol/rate-limit.ts'
import type { RestRoute } from '../github/rest/route.ts'
import { restRoutes } from '../github/rest/routes.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map(() => '---'), ...rows].map(row => `| ${row.map(cell).join(' | ')} |`).join('\n')

const hostOf: Readonly<Record<DescriptionName, string>> = { 'api.github.com': 'github.com', 'ghes-3.19': 'GHES 3.19' }

type Find = (name: DescriptionName, route: RestRoute) => DescribedRoute | undefined

const restRow = (find: Find, route: RestRoute): readonly string[] => {
  const names = descriptionsOf(route)
  const found = names.map(name => find(name, route))
  const statuses = [...new Set(found.flatMap(one => one?.successes ?? []))].sort((left, right) => left - right)
  return [
    `\`${route.method} ${route.path}\``,
    route.needs,
    `\`${found.find(one => one !== undefined)?.operationId ?? ''}\``,
    statuses.join(', '),
    names.map(name => hostOf[name]).join(', '),
  ]
}

type Parameter = {
  readonly type?: string
  readonly description?: string
  readonly anyOf?: readonly { readonly const?: unknown }[]
}

const parameters = (kind: FaultKind): string => {
  const { properties } = faultKinds[kind]
  const required: readonly string[] = faultKinds[kind].required ?? []
  const shown = Object.entries<Parameter>(properties).map(([name, one]) => {
    const values = one.anyOf?.map(choice => `\`${String(choice.const)}\``).join(' or ') ?? one.type ?? ''
    const said = one.description === undefined ? '' : `: ${one.description}`
    return `\`${name}\`${required.includes(name) ? '' : '?'} (${values})${['method', 'path', 'event', 'action'].includes(name) ? '' : said}`
  })
  return shown.length === 0 ? '–' : shown.join('<br>')
}

const faultSection = (): string => `## Faults
Armed by \`POST /_emulator/faults\` with the control token as bearer, or on the page \`/_emulator\`. Beside the parameters of its kind each
takes \`times\` (uses, 1 unless given) and \`for\` (seconds; alone it means any number of uses in that time). \`GET /_emulator/faults\` lists,
\`DELETE /_emulator/faults/{id}\` disarms, \`DELETE /_emulator/faults\` disarms everything. Each is felt over real HTTP in \`faults/*.test.ts\`
and \`webhooks/delivery-faults.test.ts\`. \`method\` and \`path\` choose requests: a path is a beginning, \`*\` one segment; paths of REST are
meant below its root, all others as they are. \`event\` and \`action\` choose webhooks.

${table(
  ['Kind', 'What happens', 'Parameters (`?`: may be left out)'],
  (Object.keys(faultKinds) as FaultKind[]).map(kind => [`\`${kind}\``, describeFault(kind), parameters(kind)]),
)}
`

const limitSection = `## Limits
Counted always and shown in \`x-ratelimit-*\`; enforced when switched on (\`--enforce-rate-limit\`, \`--enforce-bursts\`, or small numbers in tests).

${table(
  ['Limit', 'Per', 'Value', 'Answer'],
  [
    [
      'core',
      'installation, user, App',
      '5000 an hour; an installation 50 more per repository and per person beyond 20, to 12,500',
      '403 or 429',
    ],
    ['core', 'address without credentials', '60 an hour', '403 or 429'],
    ['search', 'caller', '30 a minute; 10 without credentials', '403 or 429'],
    ['at once', 'caller', '100 requests', '403 or 429 "secondary rate limit"'],
    ['points', 'caller and route', '900 a minute; reading 1, writing 5', '403 or 429 "secondary rate limit"'],
    ['content', 'caller', '80 writes a minute, 500 an hour; tokens do not count', '403 or 429 "secondary rate limit"'],
  ],
)}

With or without \`retry-after\`, as switched. A 304 costs nothing to callers with credentials. \`@octokit/plugin-throttling\` recognises each
(\`rest/protocol/limits.test.ts\`).
`

/** The page as Markdown. */
export const githubEmulatorPage = (): string => {
  const lookups: Readonly<Record<DescriptionName, (route: RestRoute) => DescribedRoute | undefined>> = {
    'api.github.com': openDescription('api.github.com'),
    'ghes-3.19': openDescription('ghes-3.19'),
  }
  const routes = restRoutes({ limiter: createRateLimiter({ authenticated: 1, anonymous: 1 }, Date.now) })
  const webhooks = Object.entries(webhookEvents).map(([event, actions]) => [
    `\`${event}\``,
    actions.map(action => `\`${action}\``).join(', ') || '–',
  ])
  return `<!-- Generated by \`npm run generate\`. Do not edit: the source is dev/github and dev/generate/github-routes.ts. -->
# The GitHub emulator: what it serves and what that is checked by

How to start it and where things are: [dev/github/README.md](../../dev/github/README.md).

## REST: ${routes.length} routes
Below \`/api/v3\` (and the configured prefix) and on the host \`api.<host>\`. Each is called by an Octokit client with success in
\`rest/routes.test.ts\`, in the shape of an Enterprise Server and in that of github.com, and each JSON answer is validated against the
description named here (\`@octokit/openapi\`), answers of refusal too. Routes on a repository answer under \`/repositories/{id}\` as well.

${table(
  ['Route', 'Needs', 'Operation', 'Success', 'Validated against'],
  routes.map(route => restRow((name, one) => lookups[name](one), route)),
)}

## Other routes
${table(
  ['Area', 'Routes', 'Checked by'],
  areas.map(area => [
    area.name,
    area.routes.map(one => `\`${one}\``).join('<br>'),
    `${area.driven ? '' : 'Not validated: '}${area.check}`,
  ]),
)}

A route that is in neither table fails \`contract/routes.test.ts\`.

## Webhooks
\`contract/webhooks.test.ts\` causes each of them by what people do and validates the payload against \`@octokit/openapi-webhooks\` for
github.com and GHES 3.19; one that is not listed fails it. Delivered in order, one at a time per hook, 10 seconds to answer, 25 MB at most,
never repeated by itself; listed and repeated on request for three days (GHES: seven).

${table(['Event', 'Actions'], webhooks)}

${limitSection}
${faultSection()}`
}
