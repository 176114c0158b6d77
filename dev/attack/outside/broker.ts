// The broker's pages and APIs, as people of globex and without a credential: tenants' pages, webhooks, return paths, sessions.
// The audit log is in audit.ts.
import { createHmac, randomUUID } from 'node:crypto'
import type { Attack, Attempt } from '../attack.ts'
import { judgeBroker, pageText } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { Actor } from '../world/actors.ts'
import type { HttpAnswer, HttpRequest } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { signedIn } from './visitor.ts'

/** A request and what the answer to it must be. */
export type Ask = HttpRequest & {
  readonly name: string
  readonly as: Actor
  readonly path: string
  readonly statuses?: readonly number[]
  readonly judge?: (answer: HttpAnswer) => Verdict
}

/** The attempt that sends it, as the actor. */
export function ask(world: World, { name, as, path, statuses, judge, headers, ...options }: Ask): Attempt {
  return {
    name: `${as}: ${name}`,
    async run() {
      const token = await world.credentials(as)
      const answer = await world.http.send(`${world.targets.issuer}${path}`, {
        ...options,
        headers: { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      })
      return (judge ?? (given => judgeBroker(given, statuses)))(answer)
    },
  }
}

const push = JSON.stringify({
  ref: 'refs/heads/main',
  after: '1'.repeat(40),
  repository: { id: 4001, full_name: 'acme/shop' },
  installation: { id: 100_003 },
})
const removal = JSON.stringify({
  action: 'deleted',
  installation: { id: 100_003, app_id: 5001, account: { id: 2001, login: 'acme' } },
})

function webhook(name: string, body: string, headers: Readonly<Record<string, string>>, statuses = [401, 400, 403]): Ask {
  return {
    name,
    as: 'stranger',
    path: '/webhooks/github',
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': randomUUID(), ...headers },
    statuses,
  }
}

function webhooks(): readonly Ask[] {
  const sign = (secret: string, body: string): string => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const wrong = sign('guess', push)
  return [
    webhook('webhook without a signature', push, {}),
    webhook('webhook with a wrong signature', push, { 'x-hub-signature-256': wrong }),
    webhook('webhook with SHA-1 only', push, { 'x-hub-signature': `sha1=${createHmac('sha1', '').update(push).digest('hex')}` }),
    webhook('webhook signed with an empty secret', push, { 'x-hub-signature-256': sign('', push) }),
    webhook('webhook with an upper-case signature', push, { 'x-hub-signature-256': wrong.toUpperCase() }),
    webhook('webhook with two signatures', push, { 'x-hub-signature-256': `${wrong}, ${wrong}` }),
    webhook('webhook that removes acme’s installation', removal, {
      'x-github-event': 'installation',
      'x-hub-signature-256': sign('guess', removal),
    }),
    webhook('webhook of another App', removal, {
      'x-github-event': 'installation',
      'x-github-hook-installation-target-id': '1',
      'x-hub-signature-256': wrong,
    }),
    webhook(
      'webhook that is not JSON',
      'x',
      { 'content-type': 'text/plain', 'x-hub-signature-256': sign('guess', 'x') },
      [401, 400, 403, 415],
    ),
    webhook('webhook with a forged address', push, { 'x-forwarded-for': '140.82.112.6', 'x-hub-signature-256': wrong }),
  ]
}

const returns = [
  'https://attacker.example/',
  '//attacker.example',
  '/\\attacker.example',
  '/%5cattacker.example',
  '/.//attacker.example',
  'javascript:alert(1)',
  '/\tattacker',
  '/%2f%2fattacker.example',
  '/../..//attacker.example',
  `/${'a'.repeat(3000)}`,
]

/** A sign-in with a malformed return path never ends on another host. */
function returnPath(world: World, path: string): Attempt {
  return {
    name: `stranger: /login?return_to=${JSON.stringify(path).slice(0, 50)}`,
    async run() {
      const answer = await world.http.send(`${world.targets.issuer}/login?return_to=${encodeURIComponent(path)}`)
      return judgeBroker(answer, [400])
    },
  }
}

/** Pages that belong to others, as gary with a session of the pages. */
function pages(world: World, paths: readonly string[]): readonly Attempt[] {
  return paths.map(path => ({
    name: `gary: page ${path}`,
    async run() {
      const browser = await signedIn(world, 'gary')
      const page = await browser.open(`${world.targets.issuer}${path}`)
      world.watcher.see(`page ${path}`, page.html)
      return judgeBroker({ status: page.status, text: page.html })
    },
  }))
}

/** A session cookie that an attacker chose must not become a signed-in one. */
function fixation(world: World): Attempt {
  return {
    name: 'stranger: a session that he chose for the victim',
    async run() {
      const chosen = 'A'.repeat(43)
      const cookie = `__Host-sekisho-session=${chosen}; __Host-sekisho-browser=${chosen}`
      const answer = await world.http.send(`${world.targets.issuer}/login`, { headers: { cookie } })
      const used = await world.http.send(`${world.targets.issuer}/tenants/acme`, { headers: { cookie, accept: 'text/html' } })
      if (used.status === 200 && used.text.includes('olivia')) return succeeded(pageText(used.text))
      return answer.status === 303
        ? stopped('broker', `a cookie that was never issued is ignored: ${used.status}`)
        : unclear(`${answer.status} ${answer.text}`)
    },
  }
}

/** The form of an onboarding's id; no onboarding has it. */
const onboarding = '00000000-0000-4000-8000-000000000000'

/** What only platform admins may do, as a tenant admin and as a person without a role. */
function administration(world: World, as: Actor): readonly Attempt[] {
  const post = (name: string, path: string, body: object): Ask => ({
    name,
    as,
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    statuses: [401, 403, 404],
  })
  const plans: readonly Ask[] = [
    { name: 'list everybody’s sessions', as, path: '/api/v1/sessions', statuses: [401, 403, 404] },
    {
      name: 'count dave’s sign-ins',
      ...{ as, path: '/api/v1/sessions/person?user=github%7Cgithub.localhost%7C1002', statuses: [401, 403, 404] },
    },
    post('end dave’s sessions', '/api/v1/sessions/revoke', { user: 'github|github.localhost|1002' }),
    { name: 'list the onboardings that wait for an admin', as, path: '/api/v1/onboardings', statuses: [401, 403, 404] },
    post('approve an account', '/api/v1/onboardings/approve', { onboarding }),
    post('refuse an account', '/api/v1/onboardings/refuse', { onboarding, reason: 'an attack' }),
    { name: 'list the sealing keys by fingerprint', as, path: '/api/v1/keys', statuses: [401, 403, 404] },
    post('allow a cut of the audit log', '/api/v1/audit/prune', { reason: 'an attack', statement: 'eyJhbGciOiJub25lIn0.e30.' }),
    post('acknowledge lost entries of the audit log', '/api/v1/audit/acknowledge', { reason: 'an attack', statements: [] }),
  ]
  return plans.map(planned => ask(world, planned))
}

export const brokerAttacks: readonly Attack[] = [
  {
    name: 'broker/pages',
    as: 'gary, with a session of the pages',
    against: 'pages of acme and of administrators',
    tries: 'Opens tenants, onboardings and administration by their names and ids.',
    expected: ['broker', 'authentication'],
    peer: 'Coolify CVE-2026-48742, CVE-2025-64423: pages and invitations of others',
    attempts: world =>
      pages(world, [
        '/tenants/acme',
        '/tenants/acme/applications/shop',
        '/tenants/acme/builds',
        '/tenants/acme/previews',
        '/tenants/ACME',
        '/tenants/acme%2f',
        '/tenants/%2e%2e/acme',
        '/tenants/kube-system',
        '/tenants',
        '/onboardings',
        '/onboard/confirm?onboarding=00000000-0000-0000-0000-000000000000',
        '/onboard/progress?onboarding=1',
        '/metrics',
        '/.env',
        '/oidc/jwks.json',
      ]),
  },
  {
    name: 'broker/webhooks',
    as: 'a sender without the webhook secret',
    against: 'the webhook inbox',
    tries: 'Deliveries without, with wrong, old and malformed signatures, of another App, from a forged address.',
    expected: ['authentication', 'broker'],
    attempts: world => webhooks().map(planned => ask(world, planned)),
  },
  {
    name: 'broker/return-paths',
    as: 'an attacker who sends a person a link',
    against: 'people who sign in',
    tries: 'A sign-in that ends on another host.',
    expected: ['broker'],
    attempts: world => returns.map(path => returnPath(world, path)),
  },
  {
    name: 'broker/sessions',
    as: 'gary, noah, and a client without a credential',
    against: 'sessions of others',
    tries:
      'Administration of sessions, accounts, sealing keys and the audit log by those who may not, sessions that an attacker chose, forms without their secret.',
    expected: ['broker', 'authentication'],
    attempts: world => [
      fixation(world),
      ...(['gary', 'olivia', 'dave', 'noah', 'stranger'] as const).flatMap(as => administration(world, as)),
      ...(['gary', 'stranger'] as const).map(as =>
        ask(world, {
          name: 'sign out without the form’s secret',
          as,
          path: '/logout',
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://attacker.example' },
          body: 'csrf=x',
        }),
      ),
      ...(['olivia', 'gary'] as const).map(as =>
        ask(world, {
          name: 'use an ID token of kubectl as a session of the pages',
          as,
          path: '/tenants/acme',
          statuses: [401, 403, 303, 302],
        }),
      ),
    ],
  },
]
