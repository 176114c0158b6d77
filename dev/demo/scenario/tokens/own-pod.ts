// A pod of dave that runs a program with an identity for the token desk and the git proxy, as a workload of a tenant has it.
import type { Application } from '../../../../src/api/apps/application.ts'
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { applicationName, type DemoContext, tenantNamespace } from '../../context.ts'
import { mustRun, type Person } from '../../tools.ts'

/** What the pod is called, the program of Node.js, and its environment. */
export type PodProgram = {
  readonly name: string
  readonly script: string
  readonly environment?: Readonly<Record<string, string>>
}

const here = ['-n', tenantNamespace]

/** Runs the pod anew to its end, with the image of the demo's Application. Resolves to its output, and throws it on failure. */
export async function podOutput(demo: DemoContext, dave: Person, program: PodProgram): Promise<string> {
  const kubectl = (args: readonly string[], input?: string): Promise<string> =>
    mustRun(dave, demo.tools.kubectl, args, input === undefined ? {} : { input })
  const pod = `pod/${program.name}`
  await kubectl(['delete', pod, ...here, '--ignore-not-found', '--wait=true'])
  const application: Application = JSON.parse(await kubectl(['get', 'application', applicationName, ...here, '-o', 'json']))
  await kubectl(['apply', '-f', '-'], JSON.stringify(podManifest(program, application.status?.image ?? '')))
  const phase = await waitUntil(
    `the ${pod} to end`,
    async () => {
      const now = await kubectl(['get', pod, ...here, '-o', 'jsonpath={.status.phase}'])
      return now === 'Succeeded' || now === 'Failed' ? now : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
  const output = await kubectl(['logs', program.name, ...here])
  if (phase !== 'Succeeded') throw new Error(`the ${pod} failed: ${output}`)
  return output
}

const addresses = {
  TOKEN_DESK: 'https://sekisho-token-desk.sekisho-system.svc',
  GIT_PROXY: 'https://sekisho-git-proxy.sekisho-system.svc/github.localhost',
}

function podManifest({ name, script, environment = {} }: PodProgram, image: string): object {
  const container = {
    name: 'program',
    image,
    command: ['/usr/local/bin/node', '-e', script],
    env: Object.entries({ ...addresses, ...environment }).map(([key, value]) => ({ name: key, value })),
    resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'identity', mountPath: '/var/run/sekisho' },
      { name: 'authority', mountPath: '/var/run/sekisho-ca' },
    ],
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: tenantNamespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1001, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [container],
      volumes: [
        {
          name: 'identity',
          projected: { sources: [{ serviceAccountToken: { audience: 'sekisho', expirationSeconds: 600, path: 'token' } }] },
        },
        { name: 'authority', configMap: { name: 'sekisho-ca' } },
      ],
    },
  }
}
