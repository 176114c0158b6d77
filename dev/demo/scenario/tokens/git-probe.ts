// A pod that fetches a repository through the git proxy. The image of the demo's Application has no git, so the pod speaks git's
// protocol itself: the refs, then the pack of one commit. It prints what it got, and whether anything in it looks like a token.
import type { Application } from '../../../../src/api/apps/application.ts'
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { applicationName, type DemoContext, tenantNamespace } from '../../context.ts'
import { mustRun, type Person } from '../../tools.ts'

export type GitAnswers = {
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

const script = `
const { readFileSync } = require('node:fs')
const https = require('node:https')
const identity = readFileSync('/var/run/sekisho/token', 'utf8')
const ca = readFileSync('/var/run/sekisho-ca/ca.crt')
const seen = [JSON.stringify(process.env)]
const ask = (url, options = {}, body) => new Promise((resolve, reject) => {
  const request = https.request(url, { ca, ...options }, response => {
    const chunks = []
    response.on('data', chunk => chunks.push(chunk)).on('error', reject).on('end', () => {
      const bytes = Buffer.concat(chunks)
      seen.push(JSON.stringify(response.headers), bytes.toString('latin1'))
      resolve({ status: response.statusCode, bytes })
    })
  })
  request.on('error', reject).end(body)
})
const line = text => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text
const authorization = 'Basic ' + Buffer.from('demo-git:' + identity).toString('base64')
const git = (name, path, body) => ask(process.env.GIT_PROXY + '/' + name + '.git' + path, {
  method: body === undefined ? 'GET' : 'POST',
  headers: { authorization, 'git-protocol': 'version=2', ...(body === undefined ? {} : { 'content-type': 'application/x-git-upload-pack-request' }) },
}, body)
;(async () => {
  const refs = await git('acme/shop', '/git-upload-pack', line('command=ls-refs\\n') + '0001' + line('ref-prefix refs/heads/main\\n') + '0000')
  if (refs.status !== 200) throw new Error('refs: ' + refs.status + ' ' + refs.bytes)
  const commit = refs.bytes.toString('latin1').slice(4, 44)
  const wants = ['want ' + commit + '\\n', 'deepen 1\\n', 'no-progress\\n', 'done\\n'].map(line).join('')
  const fetched = await git('acme/shop', '/git-upload-pack', line('command=fetch\\n') + '0001' + wants + '0000')
  if (fetched.status !== 200 || !fetched.bytes.includes('PACK')) throw new Error('pack: ' + fetched.status)
  const secretPlans = (await git('acme/secret-plans', '/info/refs?service=git-upload-pack')).status
  const push = (await git('acme/shop', '/info/refs?service=git-receive-pack')).status
  const token = (await ask(process.env.TOKEN_DESK + '/v1/token', {
    method: 'POST', headers: { authorization: 'Bearer ' + identity, 'content-type': 'application/json' },
  }, JSON.stringify({ grant: 'demo-git' }))).status
  console.log(JSON.stringify({ commit, pack: fetched.bytes.length, secretPlans, push, token, hasToken: /gh[a-z]_/.test(seen.join('')) }))
})().catch(error => { console.error(error.message); process.exit(1) })
`

/** Runs the pod to its end. Throws with its output when it failed. */
export async function gitPod(demo: DemoContext, dave: Person): Promise<GitAnswers> {
  const kubectl = (args: readonly string[], input?: string): Promise<string> =>
    mustRun(dave, demo.tools.kubectl, args, input === undefined ? {} : { input })
  await kubectl(['delete', 'pod/demo-git', '-n', tenantNamespace, '--ignore-not-found', '--wait=true'])
  const application: Application = JSON.parse(
    await kubectl(['get', 'application', applicationName, '-n', tenantNamespace, '-o', 'json']),
  )
  await kubectl(['apply', '-f', '-'], JSON.stringify(podManifest(application.status?.image ?? '')))
  const phase = await waitUntil(
    'the pod that fetches to end',
    async () => {
      const now = await kubectl(['get', 'pod/demo-git', '-n', tenantNamespace, '-o', 'jsonpath={.status.phase}'])
      return now === 'Succeeded' || now === 'Failed' ? now : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
  const output = await kubectl(['logs', 'demo-git', '-n', tenantNamespace])
  if (phase !== 'Succeeded') throw new Error(`the pod that fetches failed: ${output}`)
  return JSON.parse(output) as GitAnswers
}

function podManifest(image: string): object {
  const container = {
    name: 'fetch',
    image,
    command: ['/usr/local/bin/node', '-e', script],
    env: [
      { name: 'GIT_PROXY', value: 'https://sekisho-git-proxy.sekisho-system.svc/github.localhost' },
      { name: 'TOKEN_DESK', value: 'https://sekisho-token-desk.sekisho-system.svc' },
    ],
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
    metadata: { name: 'demo-git', namespace: tenantNamespace },
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
