// Fifth part: the access rules refuse what they must refuse, and the audit log records what was allowed.
import { type DemoContext, tenantNamespace } from '../../context.ts'
import { expectThat, type Step } from '../../steps.ts'
import { mustRun, type Person, type Result, run } from '../../tools.ts'
import { readSync } from '../deploy.ts'
import { attemptLogin, commandLineLogin } from '../sign-in.ts'
import { fetchScript } from './git-pod-script.ts'
import { type DemoGrant, deleteGrant, readyGrant } from './grants.ts'
import { podOutput } from './own-pod.ts'
import { type ProbeAnswers, probePod } from './token-probe.ts'

export function accessSteps(demo: DemoContext): readonly Step[] {
  const { dave, noah, ada } = demo.people
  const kubectl = (who: Person, args: readonly string[], input?: string): Promise<Result> =>
    run(who, demo.tools.kubectl, args, input === undefined ? {} : { input })
  return [
    {
      title:
        'a workload gets a token for its ServiceAccount: it can read acme/shop, cannot read another repository and cannot write',
      run: async () => {
        const answers = await tokenReach(demo, dave)
        expectThat(answers.shop === 200, `the token cannot read acme/shop: ${answers.shop}`)
        expectThat(
          answers.secretPlans === 404 || answers.secretPlans === 403,
          `the token can read acme/secret-plans: ${answers.secretPlans}`,
        )
        expectThat(answers.write === 403 || answers.write === 404, `the token can write: ${answers.write}`)
        expectThat(answers.push === 403 || answers.push === 401, `the token can push: ${answers.push}`)
        return `acme/shop ${answers.shop}, acme/secret-plans ${answers.secretPlans}, write ${answers.write}, git push ${answers.push}`
      },
    },
    {
      title:
        'a pod fetches acme/shop through the git proxy, without a token in the pod; it cannot fetch another repository or push',
      run: async () => {
        await readyGrant(demo, dave, gitGrant)
        const answers = await podOutput(demo, dave, { name: gitGrant.name, script: fetchScript(gitGrant.name) })
        const { commit, pack, secretPlans, push, token, hasToken }: GitAnswers = JSON.parse(answers)
        await deleteGrant(demo, dave, gitGrant.name)
        const followed = (await readSync(demo, dave)).status?.commit
        expectThat(commit === followed, `the proxy passed ${commit}, and the platform follows ${followed}`)
        expectThat(!hasToken, 'the pod has seen a token of GitHub')
        expectThat(secretPlans === 403 && push === 403, `not refused: acme/secret-plans ${secretPlans}, git push ${push}`)
        expectThat(token === 403, `the token desk gave a token under a grant for the git proxy: ${token}`)
        return `${commit.slice(0, 12)} in ${pack} bytes; acme/secret-plans ${secretPlans}, git push ${push}, token ${token}`
      },
    },
    {
      title: 'dave cannot create an Installation',
      run: async () => {
        const result = await kubectl(dave, ['create', '-f', '-'], ownInstallation)
        return refused(result, 'creating an Installation')
      },
    },
    {
      title: "dave cannot read Secrets, neither the platform's nor those of acme",
      run: async () => {
        refused(await kubectl(dave, ['get', 'secrets', '-n', 'sekisho-system']), "reading the platform's Secrets")
        return refused(await kubectl(dave, ['get', 'secrets', '-n', tenantNamespace]), 'reading the Secrets of acme')
      },
    },
    {
      title: 'noah, who belongs to no tenant, signs in to GitHub and gets no token for kubectl',
      run: async () => {
        const { code, said } = await attemptLogin(demo, noah)
        expectThat(code !== 0, 'sekisho login of noah was not refused')
        expectThat(/no role in any tenant/.test(said), `the login of noah failed for another reason: ${said}`)
        const token = await run(noah, demo.tools.sekisho, ['token'])
        expectThat(token.code !== 0 && token.output === '', 'noah has a token')
        return said
      },
    },
    {
      title: 'ada, a platform admin, lists issued tokens with sekisho audit list: who, which repository, why',
      run: async () => {
        await commandLineLogin(demo, ada)
        const entries = JSON.parse(
          await mustRun(ada, demo.tools.sekisho, [
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
        expectThat(fetch.actor !== '' && fetch.reason !== '', 'the audit record has no actor or no reason')
        return `${fetch.at} ${fetch.actor} ${fetch.action} ${fetch.object}: ${fetch.reason}`
      },
    },
    {
      title: 'sekisho audit verify confirms the integrity of the audit log',
      run: async () => mustRun(ada, demo.tools.sekisho, ['audit', 'verify']),
    },
  ]
}

type GitAnswers = {
  /** The commit of the default branch, as the proxy passed it. */
  readonly commit: string
  /** Bytes of the pack. */
  readonly pack: number
  /** The statuses for another repository, for a push, and of the token endpoint under the same grant. */
  readonly secretPlans: number
  readonly push: number
  readonly token: number
  readonly hasToken: boolean
}

type AuditLine = {
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly object: string
  readonly reason: string
}

function refused(result: Result, what: string): string {
  expectThat(result.code !== 0, `${what} was not refused: ${result.output.slice(0, 300)}`)
  expectThat(/forbidden|denied|cannot/i.test(result.errors), `${what} failed for another reason: ${result.errors.slice(0, 300)}`)
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

const account = { kind: 'ServiceAccount', name: 'default' }
const tokenGrant: DemoGrant = {
  name: 'demo-reader',
  permissions: { contents: 'read', metadata: 'read' },
  subject: account,
  reason: 'the demo tests what a token permits',
}
const gitGrant: DemoGrant = {
  name: 'demo-git',
  permissions: { contents: 'read' },
  subject: account,
  delivery: 'GitProxy',
  reason: 'the demo fetches without a token',
}

/** A pod of dave requests a token with its own ServiceAccount token; the GitHub token never leaves the pod. */
async function tokenReach(demo: DemoContext, dave: Person): Promise<ProbeAnswers> {
  await readyGrant(demo, dave, tokenGrant)
  const answers = await probePod(demo, dave)
  expectThat(answers !== undefined, 'the workload was refused a token')
  return answers
}
