// A workload that requests tokens from the token desk as a pod does: with its ServiceAccount token, repeated until it is
// answered.
import { request } from 'node:https'
import { pods, serviceAccounts } from '../../../src/api/builtin/index.ts'
import { tokenDeskAudience } from '../../../src/api/names.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type Environment, fieldManager } from '../environment/environment.ts'
import { approvedGrant, bind } from './bindings.ts'
import { patience } from './waits.ts'

export type Workload = {
  /** Resolves with the token that the desk delivered. */
  readonly token: (grant: string) => Promise<string>
}

const securityContext = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}

async function bearerOf(environment: Environment): Promise<string> {
  const { fixture, namespace } = environment
  await environment.apply(serviceAccounts, 'runner', {})
  const spec = { serviceAccountName: 'runner', containers: [{ name: 'main', image: 'none', securityContext }] }
  const pod = await waitUntil(
    'the pod of the workload is there',
    () =>
      fixture.kube.create(
        pods,
        { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'job-', namespace }, spec },
        { fieldManager },
      ),
    patience,
  )
  const { name, uid } = pod.metadata
  const answer = await fixture.admin.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/runner/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: [tokenDeskAudience],
      expirationSeconds: 3600,
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
    },
  })
  return (answer as { readonly status: { readonly token: string } }).status.token
}

type Answer = { readonly status: number; readonly text: string }

function ask(port: number, bearer: string, grant: string): Promise<Answer> {
  const body = JSON.stringify({ grant })
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', 'content-length': String(body.length) }
  return new Promise((resolve, reject) => {
    // Certificate verification by workloads is not tested here, and each environment has its own authority.
    const options = {
      port,
      host: '127.0.0.1',
      path: '/v1/token',
      method: 'POST',
      headers,
      rejectUnauthorized: false,
      agent: false,
    }
    const sent = request(options, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

export async function startWorkload(environment: Environment): Promise<Workload> {
  const bearer = await bearerOf(environment)
  return {
    token: grant =>
      waitUntil(
        'the desk delivers a token',
        async () => {
          const { status, text } = await ask(environment.ports.tokenDesk, bearer, grant)
          if (status !== 200) throw new Error(`the desk answered ${status}: ${text}`)
          return (JSON.parse(text) as { readonly token: string }).token
        },
        patience,
      ),
  }
}

/** Prepares an environment in which a workload holds a token under the grant `read-shop`. */
export async function withActiveToken(environment: Environment): Promise<void> {
  await bind(environment)
  await approvedGrant(environment)
  const workload = await startWorkload(environment)
  await workload.token('read-shop')
}
