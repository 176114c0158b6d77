// Somebody who may write to the repository approves the commit of a fork on the page of the tenant, or by the command line, and
// repeats it until the broker answers. A former commit is refused. The scenarios write the status of the AppPipeline, in place
// of its controller.
import { appPipeline } from '../../../src/api/apps/app-pipeline.ts'
import { previewApproval } from '../../../src/api/apps/preview-approval.ts'
import { userSubject } from '../../../src/api/names.ts'
import { tenant } from '../../../src/api/tenancy/tenant.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { people } from '../environment/account.ts'
import { type Environment, host } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { chartOf } from './application.ts'
import { applyInstallation, dave } from './bindings.ts'
import { openFork, push } from './preview-approval.ts'
import { repositoryOf } from './remote-sync.ts'
import { callApi, formSecret, signIn, signInToKubectl, submit } from './signed-in.ts'
import { patience } from './waits.ts'

const olivia = userSubject(host, people.olivia)

/** The only pull request of the repository. */
function pullOf(environment: Environment) {
  const { id } = repositoryOf(environment)
  const pull = environment.fixture.github.context.state.pullRequests.find(({ repositoryId }) => repositoryId === id)
  if (pull === undefined) throw new Error('the repository has no pull request')
  return pull
}

/** Olivia has a role in a Tenant, and may see the AppPipelines of the namespace, as by that role. */
async function letSee(environment: Environment): Promise<void> {
  const { fixture, namespace, prefix } = environment
  const { id, login } = environment.account.organization
  const account = { host, id, login, type: 'Organization' }
  const roles = [{ role: 'admin', subject: { type: 'Owners' } }]
  await environment.apply(tenant, prefix, { spec: { account, namespace, roles } })
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: 'sees-previews', namespace }
  const rules = [{ apiGroups: [appPipeline.group], resources: [appPipeline.plural], verbs: ['get', 'list'] }]
  const apiGroup = 'rbac.authorization.k8s.io'
  await fixture.admin.apply(`${path}/roles/${metadata.name}`, { apiVersion, kind: 'Role', metadata, rules })
  await fixture.admin.apply(`${path}/rolebindings/${metadata.name}`, {
    ...{ apiVersion, kind: 'RoleBinding', metadata },
    roleRef: { apiGroup, kind: 'Role', name: metadata.name },
    subjects: [{ apiGroup, kind: 'User', name: olivia }],
  })
}

/** A pull request whose second commit waits. */
async function waiting(environment: Environment): Promise<void> {
  await applyInstallation(environment)
  await letSee(environment)
  const { fork, pull } = await openFork(environment)
  await push(environment, fork, 'two', pull.head.sha)
  const repository = `${environment.account.organization.login}/shop`
  await environment.apply(appPipeline, 'shop', {
    spec: {
      installation: 'github',
      repository,
      requestedBy: dave,
      template: { application: { chart: chartOf(environment) } },
      policy: { forks: 'Approved' },
      report: false,
    },
  })
  const now = new Date().toISOString()
  const row = {
    number: pull.number,
    headCommit: pullOf(environment).head.sha,
    headRepository: fork.id,
    since: now,
    activeAt: now,
  }
  await environment.setStatus(appPipeline, 'shop', {
    observedGeneration: 1,
    repository: { id: repositoryOf(environment).id, name: repository, requested: repository },
    previews: [{ ...row, state: 'WaitingForApproval', reason: 'ApprovalMissing', message: 'waits' }],
  })
}

/** How the person sends an approval of this commit, with what they got when they signed in. */
type Send = (headCommit: string) => Promise<Response>

/**
 * Repeated until the broker answers so: while it is not there, nobody does, and until its caches are filled it does not know
 * the AppPipeline.
 */
async function approve(send: Send, headCommit: string, wanted: number): Promise<void> {
  await waitUntil(
    `the broker answers ${wanted}`,
    async () => {
      const answer = await send(headCommit)
      if (answer.status === wanted) return true
      throw new Error(`${answer.status} ${await answer.text()}`)
    },
    { ...patience, everyMilliseconds: 500 },
  )
}

async function onPage(environment: Environment): Promise<Send> {
  const cookie = await signIn(environment)
  const csrf = await formSecret(environment, cookie)
  const fields = { csrf, pipeline: 'shop', number: String(pullOf(environment).number) }
  const path = `/tenants/${environment.namespace}/previews/approve`
  return headCommit => submit(environment, path, cookie, { ...fields, headCommit })
}

async function byCommandLine(environment: Environment): Promise<Send> {
  const idToken = await signInToKubectl(environment)
  const path = `/api/v1/tenants/${environment.namespace}/previews/shop/${pullOf(environment).number}/approval`
  return headCommit => callApi(environment, path, idToken, { headCommit })
}

type Way = {
  readonly name: string
  readonly open: (environment: Environment) => Promise<Send>
  /** The answer to an approval that counts. */
  readonly approved: number
}

function scenarioOf({ name, open, approved }: Way): Scenario {
  return {
    name: `preview-approval: ${name}`,
    // The broker writes it; it is not a controller.
    controllers: [],
    environment: { component: 'broker', namespace: 'made', github: 'repository' },
    prepare: waiting,
    // The others are about the token of the person.
    shortPoints: /audit\.entries|previewapprovals/,
    async act(environment) {
      const send = await open(environment)
      await approve(send, 'f'.repeat(40), 409)
      await approve(send, pullOf(environment).head.sha, approved)
    },
    compares: [previewApproval],
    async more(environment) {
      const head = pullOf(environment).head.sha
      const approvals = await environment.fixture.kube.list(previewApproval, { namespace: environment.namespace })
      const recorded = await environment.store.audit.list({ action: 'preview.approved', limit: 100 })
      return {
        approvals: approvals.map(({ spec }) => [spec.headCommit === head, spec.by.login, spec.via]),
        recorded: recorded.map(({ actor, outcome, details }) => [actor === olivia, outcome, details['headCommit'] === head]),
      }
    },
  }
}

export const previewApprovalOnPage = scenarioOf({ name: 'on the page', open: onPage, approved: 303 })
export const previewApprovalByCommandLine = scenarioOf({ name: 'by the command line', open: byCommandLine, approved: 200 })
