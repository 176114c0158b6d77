// The offices that read: tokens of ServiceAccounts at the API of the audit log, where and for whom they must not be taken, and
// the pages of the log as people who may not read it.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { corePath } from '../cluster/api-attempts.ts'
import { judgeApi, judgeBroker } from '../judge.ts'
import { stopped, succeeded, type Verdict } from '../verdict.ts'
import { type PersonActor, serviceAccountToken } from '../world/actors.ts'
import type { World } from '../world/world.ts'
import { signedIn } from './visitor.ts'

const audience = 'sekisho-audit'
const account = { namespace: neighbourNamespace, name: 'default' }

/** What a reader asks for: another tenant's, everything, and its own, which nobody gave to it. */
const questions = [
  '',
  `?namespace=${tenantNamespace}`,
  `?namespace=${neighbourNamespace}`,
  '?namespace=sekisho-system',
  `/stream?namespace=${tenantNamespace}`,
  '/stream',
  `/names?repository=acme/shop&namespace=${tenantNamespace}`,
  '/head',
  '/checkpoints',
]

/** Routes that are for people only. */
const forPeople = ['/api/v1/whoami', '/api/v1/sessions', '/api/v1/onboardings', '/api/v1/keys', '/api/v1/cluster']

function asked(world: World, name: string, bearer: string, path: string): Attempt {
  const headers = { authorization: `Bearer ${bearer}` }
  return {
    name: `workload: ${name}: ${path}`,
    run: async () => judgeBroker(await world.http.send(`${world.targets.issuer}${path}`, { headers })),
  }
}

/** The same claims, with another account; and without a signature. */
function forged(token: string): readonly (readonly [name: string, bearer: string])[] {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Readonly<Record<string, unknown>>
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const platform = encode({ ...claims, sub: 'system:serviceaccount:sekisho-system:sekisho-broker' })
  return [
    ['with a changed token', [header, platform, signature].join('.')],
    ['with an unsigned token', [encode({ alg: 'none' }), platform, ''].join('.')],
    ['with a token of another algorithm', [encode({ alg: 'HS256' }), platform, signature].join('.')],
    ['with a token that has four parts', `${token}.x`],
    ['with a huge token', `${header}.${'a'.repeat(20_000)}.${signature}`],
  ]
}

async function asAccount(world: World): Promise<readonly Attempt[]> {
  const good = await serviceAccountToken(world.admin, { ...account, audiences: [audience] })
  const others = await Promise.all(
    [['https://kubernetes.default.svc.cluster.local'], ['sekisho'], ['kubernetes'], [`${audience}x`]].map(
      async audiences =>
        [`with the audience ${audiences.join()}`, await serviceAccountToken(world.admin, { ...account, audiences })] as const,
    ),
  )
  const builder = await serviceAccountToken(world.admin, {
    namespace: `${neighbourNamespace}-build`,
    name: 'default',
    audiences: [audience],
  })
  const log = (query: string): string => `/api/v1/audit${query}`
  return [
    ...questions.map(query => asked(world, 'without a right', good, log(query))),
    ...[...others, ...forged(good), ['of the build namespace', builder] as const].flatMap(([name, bearer]) =>
      ['', `?namespace=${tenantNamespace}`].map(query => asked(world, name, bearer, log(query))),
    ),
    ...forPeople.map(path => asked(world, 'where people sign in', good, path)),
    {
      name: 'workload: asks the API server with the token for the log',
      run: async () =>
        judgeApi(
          await world.http.send(`${world.targets.apiServer}${corePath(neighbourNamespace, 'pods')}`, {
            headers: { authorization: `Bearer ${good}` },
          }),
        ),
    },
  ]
}

const pages = [
  `/audit?namespace=${tenantNamespace}`,
  '/audit',
  '/audit?namespace=sekisho-system',
  '/audit?person=olivia',
  '/audit?repository=4001',
  '/audit/1',
  `/audit/1?namespace=${tenantNamespace}`,
  `/access?of=repository&name=acme/shop&namespace=${tenantNamespace}`,
  '/access?of=repository&name=4001',
  '/access?of=person&name=olivia',
  `/access?of=workload&name=${tenantNamespace}/default`,
]

/** Of whose log gary, an admin of globex, gets a page, nothing of acme may be in it, but for the words that he asked with. */
function judgeLog(html: string): Verdict {
  const rows = /<tbody>[\s\S]*<\/tbody>/.exec(html)?.[0] ?? ''
  const found = new RegExp(`.{0,60}(/${tenantNamespace}/|serviceaccount:${tenantNamespace}:).{0,60}`).exec(rows)?.[0]
  return found === undefined ? stopped('broker', 'nothing of acme is in the page') : succeeded(found)
}

function visit(world: World, as: PersonActor, path: string): Attempt {
  return {
    name: `${as}: ${path}`,
    async run() {
      const { status, html } = await (await signedIn(world, as)).open(`${world.targets.issuer}${path}`)
      return status === 200 && as === 'gary' ? judgeLog(html) : judgeBroker({ status, text: html }, [400, 403, 404])
    },
  }
}

export const auditorAttacks: readonly Attack[] = [
  {
    name: 'broker/audit-accounts',
    as: 'a ServiceAccount of globex',
    against: 'the audit log',
    tries:
      'Reads the log without a right, with tokens for other audiences, forged ones and those of build namespaces; uses the token of the log elsewhere.',
    expected: ['broker', 'authentication'],
    attempts: asAccount,
  },
  {
    name: 'broker/audit-pages',
    as: 'gary of globex, noah, and dave and mia of acme, who are not admins',
    against: 'the pages of the audit log',
    tries: 'Opens the log, single entries, and who could reach what of acme.',
    expected: ['broker', 'authentication'],
    attempts: world => (['gary', 'noah', 'dave', 'mia'] as const).flatMap(as => pages.map(path => visit(world, as, path))),
  },
]
