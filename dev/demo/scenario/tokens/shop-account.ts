// The ServiceAccount that the platform makes for the shop while a grant names it: a pod of the shop that runs under it, and a pod
// of dave that is refused.
import { applicationAccount } from '../../../../src/api/application-account.ts'
import type { Pod } from '../../../../src/api/builtin/index.ts'
import { applicationName, type DemoContext, tenantNamespace } from '../../context.ts'
import { expectThat } from '../../steps.ts'
import { mustRun, type Person, run } from '../../tools.ts'

export const shopAccount = applicationAccount(applicationName)

/** Undefined while no pod of the shop is ready under its account. */
export async function readyShopPod(demo: DemoContext, dave: Person): Promise<Pod | undefined> {
  const output = await mustRun(dave, demo.tools.kubectl, ['get', 'pods', '-n', tenantNamespace, '-o', 'json'])
  const { items }: { readonly items: readonly Pod[] } = JSON.parse(output)
  return items.find(
    ({ metadata, spec, status }) =>
      metadata.deletionTimestamp === undefined &&
      spec?.serviceAccountName === shopAccount &&
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  )
}

/** Runs a program of Node.js in the pod; resolves to its output. */
export function inShopPod(demo: DemoContext, dave: Person, pod: Pod, script: string): Promise<string> {
  const command = ['/usr/local/bin/node', '-e', script]
  return mustRun(dave, demo.tools.kubectl, ['exec', pod.metadata.name, '-n', tenantNamespace, '--', ...command])
}

/** A pod of dave with this in its spec must be refused for this reason; resolves to what the API server said. */
export async function ownPodRefused(demo: DemoContext, dave: Person, spec: object, reason: RegExp): Promise<string> {
  const { code, errors } = await run(dave, demo.tools.kubectl, ['create', '--dry-run=server', '-f', '-'], {
    input: JSON.stringify(ownPod(spec)),
  })
  expectThat(code !== 0, `a pod of dave was not refused: ${JSON.stringify(spec)}`)
  expectThat(reason.test(errors), `it was refused for another reason: ${errors.slice(0, 300)}`)
  return errors.replace(/\s+/g, ' ').trim().slice(0, 240)
}

function ownPod(spec: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'demo-own', namespace: tenantNamespace },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1001, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'own',
          image: 'example.com/none@sha256:0000000000000000000000000000000000000000000000000000000000000000',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
      ...spec,
    },
  }
}
