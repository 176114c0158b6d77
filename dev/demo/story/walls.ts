// Chapter three: what must not work does not work, and the log can prove what did.
import type { RepositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { eventually, expectThat, type Step } from '../steps.ts'
import { mustRun, type Person, type Result, run } from '../tools.ts'
import { tenantNamespace, type World } from '../world.ts'
import { commandLineLogin } from './sign-in.ts'
import { type ProbeAnswers, probePod } from './token-probe.ts'

export function wallSteps(world: World): readonly Step[] {
  const { dave, noah, ada } = world.people
  const kubectl = (who: Person, args: readonly string[], input?: string): Promise<Result> =>
    run(who, world.tools.kubectl, args, input === undefined ? {} : { input })
  return [
    {
      title: 'a workload gets a token by its ServiceAccount: it reads acme/shop, and neither another repository nor may it write',
      run: async () => {
        const answers = await tokenReach(world, dave)
        expectThat(answers.shop === 200, `the token does not read acme/shop: ${answers.shop}`)
        expectThat(
          answers.secretPlans === 404 || answers.secretPlans === 403,
          `the token reaches acme/secret-plans: ${answers.secretPlans}`,
        )
        expectThat(answers.write === 403 || answers.write === 404, `the token writes: ${answers.write}`)
        expectThat(answers.push === 403 || answers.push === 401, `the token may push: ${answers.push}`)
        return `acme/shop ${answers.shop}, acme/secret-plans ${answers.secretPlans}, write ${answers.write}, git push ${answers.push}`
      },
    },
    {
      title: "the developer's own Installation is refused",
      run: async () => {
        const result = await kubectl(dave, ['create', '-f', '-'], ownInstallation)
        return refused(result, 'an Installation of his own')
      },
    },
    {
      title: "reading the platform's Secrets is refused, and those of the own namespace too",
      run: async () => {
        refused(await kubectl(dave, ['get', 'secrets', '-n', 'sekisho-system']), "the platform's Secrets")
        return refused(await kubectl(dave, ['get', 'secrets', '-n', tenantNamespace]), 'Secrets of the namespace')
      },
    },
    {
      title: 'noah, a member of no tenant, signs in and sees nothing',
      run: async () => {
        await commandLineLogin(world, noah)
        refused(await kubectl(noah, ['get', 'applications', '-n', tenantNamespace]), 'Applications of acme')
        refused(await kubectl(noah, ['get', 'tenants']), 'the list of tenants')
        return refused(await kubectl(noah, ['get', 'namespaces']), 'the list of namespaces')
      },
    },
    {
      title: 'ada, platform admin: sekisho audit list says who got which token, for what and why',
      run: async () => {
        await commandLineLogin(world, ada)
        const entries = JSON.parse(
          await mustRun(ada, world.tools.sekisho, [
            'audit',
            'list',
            '--namespace',
            tenantNamespace,
            '--action',
            'token.minted',
            '--limit',
            '200',
            '-o',
            'json',
          ]),
        ) as AuditLine[]
        const fetch = entries.find(entry => entry.object.includes('remotesync-shop'))
        expectThat(fetch !== undefined, `no token.minted for the RemoteSync: ${JSON.stringify(entries).slice(0, 400)}`)
        expectThat(fetch.actor !== '' && fetch.reason !== '', 'the record lacks who or why')
        return `${fetch.at} ${fetch.actor} ${fetch.action} ${fetch.object}: ${fetch.reason}`
      },
    },
    {
      title: 'sekisho audit verify holds',
      run: async () => mustRun(ada, world.tools.sekisho, ['audit', 'verify']),
    },
  ]
}

type AuditLine = {
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly object: string
  readonly reason: string
}

function refused(result: Result, what: string): string {
  expectThat(result.code !== 0, `${what}: was NOT refused: ${result.output.slice(0, 300)}`)
  expectThat(/forbidden|denied|cannot/i.test(result.errors), `${what}: failed for another reason: ${result.errors.slice(0, 300)}`)
  return result.errors.trim().split('\n')[0]?.slice(0, 220) ?? ''
}

const ownInstallation = `apiVersion: github.sekisho.dev/v1alpha1
kind: Installation
metadata: {name: mine, namespace: ${tenantNamespace}}
spec:
  app: github
  installationId: 1
  account: {host: github.localhost, id: 2002, login: globex, type: Organization}
  boundBy: {id: 1002, login: dave}
  proof: {method: OrganizationOwner, provedAt: "2026-01-01T00:00:00Z"}
  ceiling: {repositories: All, permissions: {contents: write}}
`

const grantManifest = `apiVersion: github.sekisho.dev/v1alpha1
kind: RepositoryGrant
metadata: {name: demo-reader, namespace: ${tenantNamespace}}
spec:
  installation: github
  repositories: [acme/shop]
  permissions: {contents: read, metadata: read}
  subjects: [{kind: ServiceAccount, name: default}]
  reason: the demo proves how far a token reaches
`

/** A pod of dave's asks the token desk with its own ServiceAccount token; the GitHub token never leaves the pod. */
async function tokenReach(world: World, dave: Person): Promise<ProbeAnswers> {
  const kubectl = (args: readonly string[], input?: string): Promise<string> =>
    mustRun(dave, world.tools.kubectl, args, input === undefined ? {} : { input })
  await kubectl([
    'delete',
    'repositorygrant/demo-reader',
    'pod/demo-reader',
    '-n',
    tenantNamespace,
    '--ignore-not-found',
    '--wait=true',
  ])
  await kubectl(['apply', '-f', '-'], grantManifest)
  await eventually('the grant is decided', 30, async () => {
    const grant: RepositoryGrant = JSON.parse(
      await kubectl(['get', 'repositorygrant/demo-reader', '-n', tenantNamespace, '-o', 'json']),
    )
    const ready = grant.status?.conditions?.find(condition => condition.type === 'Ready')
    if (ready?.status !== 'True') throw new Error(`${ready?.reason}: ${ready?.message}`)
    return true
  })
  return probePod(world, dave)
}
