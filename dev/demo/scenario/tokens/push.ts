// A pod pushes through the git proxy: both the platform's and the tenant's policy allow its ServiceAccount to write, and the log
// names each ref.
import { type DemoContext, tenantNamespace } from '../../context.ts'
import { expectThat, type Step } from '../../steps.ts'
import { mustRun, type Person } from '../../tools.ts'
import { pushScript } from './git-pod-script.ts'
import { type DemoGrant, deleteGrant, readyGrant } from './grants.ts'
import { podOutput } from './own-pod.ts'

const [policyName, branch] = ['demo-push', 'demo-push']

const grant: DemoGrant = {
  name: 'demo-push',
  permissions: { contents: 'write' },
  subject: { kind: 'ServiceAccount', name: 'default' },
  delivery: 'GitProxy',
  reason: 'the demo pushes without a token',
}

/** Allows exactly what the grant requests. */
function policy(kind: 'GrantPolicy' | 'ClusterGrantPolicy'): string {
  return JSON.stringify({
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind,
    metadata: { name: policyName, ...(kind === 'GrantPolicy' ? { namespace: tenantNamespace } : {}) },
    spec: {
      rules: [
        {
          name: 'pipelines-push',
          effect: 'Allow',
          repositories: ['acme/shop'],
          permissions: grant.permissions,
          subjects: [grant.subject],
        },
      ],
    },
  })
}

type PushAnswers = {
  /** The commit that was pushed, and the commit of the branch afterwards. */
  readonly commit: string
  readonly found?: string
  /** Status and report of the push, of the push of a ref that is not a branch, and of the deletion. */
  readonly pushed: string
  readonly hidden: string
  readonly deleted: string
  readonly gone: boolean
  readonly hasToken: boolean
}

type Pushed = {
  readonly action: string
  readonly actor: string
  readonly object: string
  readonly details: { readonly ref?: string }
}

export function pushSteps(demo: DemoContext): readonly Step[] {
  const { dave, olivia, ada } = demo.people
  const apply = (who: Person, input: string) => mustRun(who, demo.tools.kubectl, ['apply', '-f', '-'], { input })
  const forget = async (): Promise<void> => {
    await deleteGrant(demo, dave, grant.name)
    await mustRun(olivia, demo.tools.kubectl, ['delete', 'grantpolicy', policyName, '-n', tenantNamespace, '--ignore-not-found'])
    await mustRun(ada, demo.tools.kubectl, ['delete', 'clustergrantpolicy', policyName, '--ignore-not-found'])
  }
  return [
    {
      title: 'a pod pushes a branch through the git proxy, without a token in the pod, and the log of pushes names the ref',
      run: async () => {
        await forget()
        await apply(ada, policy('ClusterGrantPolicy'))
        await apply(olivia, policy('GrantPolicy'))
        await readyGrant(demo, dave, grant)
        const output = await podOutput(demo, dave, { name: grant.name, script: pushScript(grant.name, branch) })
        const { commit, found, pushed, hidden, deleted, gone, hasToken }: PushAnswers = JSON.parse(output)
        await forget()
        expectThat(found === commit, `the branch is at ${found} after the push of ${commit}: ${pushed}`)
        expectThat(!hasToken, 'the pod has seen a token of GitHub')
        expectThat(hidden.includes('only branches'), `a push to refs/pull/1/head was not refused: ${hidden}`)
        expectThat(gone, `the branch was not deleted: ${deleted}`)
        const args = ['audit', 'list', '--namespace', tenantNamespace, '--what', 'pushes', '--limit', '20', '-o', 'json']
        const entries: readonly Pushed[] = JSON.parse(await mustRun(ada, demo.tools.sekisho, args))
        const ours = entries.filter(({ action, object }) => action === 'git.pushed' && object.endsWith(`/${grant.name}`))
        expectThat(
          ours.filter(({ details }) => details.ref === `refs/heads/${branch}`).length >= 2,
          `the log does not have both pushes: ${JSON.stringify(entries).slice(0, 400)}`,
        )
        return `${commit.slice(0, 12)} on ${branch}: ${pushed}; refs/pull/1/head: ${hidden.slice(0, 120)}; by ${ours[0]?.actor}`
      },
    },
  ]
}
