// The records of who changes access, port 9444 of the controllers: only API servers may say something there. Whoever else is
// heard could write people into the audit log who did nothing.
import { randomUUID } from 'node:crypto'
import { request } from 'node:https'
import { readKubeconfig } from '../../cluster/control-plane/kubeconfig.ts'
import { adminKubeconfig } from '../../cluster/settings.ts'
import { tenantNamespace } from '../../demo/context.ts'
import { run } from '../../demo/tools.ts'
import type { Attack, Attempt } from '../attack.ts'
import { requireControls } from '../inside/network.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { listens, platformAddress, platformNamespace } from '../world/targets.ts'
import type { World } from '../world/world.ts'

const port = 9444
const service = `https://sekisho-access-records.${platformNamespace}.svc/records`
/** Named in every forged review, so that the log can be asked for it. */
const forged = 'github|github.localhost|attack-forged'

/** As an API server would say that somebody deletes a grant of acme. */
function review(): string {
  const oldObject = { metadata: { name: 'demo-reader', namespace: tenantNamespace, uid: randomUUID() }, spec: { reason: 'x' } }
  const of = { group: 'github.sekisho.dev', version: 'v1alpha1', resource: 'repositorygrants' }
  const asked = { uid: randomUUID(), operation: 'DELETE', resource: of, userInfo: { username: forged }, oldObject }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: asked })
}

function judge(status: number, text: string): Verdict {
  return status === 401 || status === 403 ? stopped('authentication', `${status} ${text}`) : succeeded(`${status} ${text}`)
}

function fromPod(world: World, url: string, path = ''): Attempt {
  return {
    name: `pod of globex: a forged review to ${url}${path}`,
    async run() {
      const headers = { 'content-type': 'application/json' }
      const result = await world.probe({ kind: 'http', url: `${url}${path}`, method: 'POST', body: review(), headers })
      if (result.kind === 'answered') return judge(result.status, result.text)
      const alive = await listens(platformAddress(world.targets, port), port)
      const isSilent = result.kind === 'timeout' || result.kind === 'refused'
      return isSilent && alive
        ? stopped('network', `${result.kind}, while port ${port} answers this host`)
        : unclear(JSON.stringify(result))
    },
  }
}

type Identity = { readonly cert?: string; readonly key?: string; readonly headers?: Readonly<Record<string, string>> }

/** This host is where API servers are: the network lets it through. */
function fromNode(world: World, what: string, { headers = {}, ...identity }: Identity): Attempt {
  return {
    name: `the node: a forged review ${what}`,
    run: () =>
      new Promise<Verdict>(resolve => {
        const host = platformAddress(world.targets, port)
        // Whoever forges does not ask whom they talk to.
        const sent = request(
          { host, port, path: '/records', method: 'POST', rejectUnauthorized: false, timeout: 5000, ...identity, headers },
          answer => {
            answer.resume()
            resolve(judge(answer.statusCode ?? 0, ''))
          },
        )
        sent.on('timeout', () => sent.destroy(new Error('timeout')))
        sent.on('error', (error: NodeJS.ErrnoException) =>
          resolve(
            /SSL|TLS|CERT|ECONNRESET|EPIPE/i.test(`${error.code} ${error.message}`)
              ? stopped('authentication', `the handshake ends: ${error.code}`)
              : unclear(`${error.code} ${error.message}`),
          ),
        )
        sent.end(review())
      }),
  }
}

/** What the internet reaches first, should somebody have taken it over. */
function fromBroker(world: World): Attempt {
  return {
    name: 'the broker’s pod: a connection to the port',
    async run() {
      const { targets, demo, settings } = world
      const broker = targets.platformPods.find(({ name }) => name.startsWith('sekisho-broker'))
      const target = platformAddress(targets, port)
      const script = `const s=require('net').connect(${port},'${target}',()=>{console.log('connected');process.exit()});s.setTimeout(3000,()=>{console.log('timeout');process.exit()});s.on('error',e=>{console.log('refused',e.code);process.exit()})`
      const args = ['--kubeconfig', adminKubeconfig(settings), 'exec', '-n', platformNamespace, broker?.name ?? '']
      const { code, output, errors } = await run(demo.people.ada, demo.tools.kubectl, [...args, '--', 'node', '-e', script])
      if (output.startsWith('connected')) return succeeded('connected')
      if (code !== 0) return unclear(errors)
      return (await listens(target, port)) ? stopped('network', `${output}, while it answers this host`) : unclear(output)
    },
  }
}

/** As a platform admin reads the log, after all of it. */
function nothingWritten(world: World, since: Date): Attempt {
  return {
    name: 'ada: looks for a forged user in the log',
    async run() {
      const token = (await world.credentials('ada')) ?? ''
      const path = `/api/v1/audit?limit=1000&since=${since.toISOString()}&actor=${encodeURIComponent(forged)}`
      const { status, text } = await world.http.send(`${world.targets.issuer}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      if (status !== 200) return unclear(`${status} ${text}`)
      const { entries } = JSON.parse(text) as { readonly entries: readonly object[] }
      return entries.length === 0 ? stopped('absent', 'no entry') : succeeded(JSON.stringify(entries[0]))
    },
  }
}

/** The last one waits for the others. */
function lastly(attempts: readonly Attempt[], last: Attempt): readonly Attempt[] {
  const before: Promise<unknown>[] = []
  const all = attempts.map(({ name, run: play }) => ({
    name,
    run() {
      const verdict = play()
      before.push(verdict.catch(() => {})) // the runner sees the failure of this attempt
      return verdict
    },
  }))
  return [...all, { name: last.name, run: () => Promise.all(before).then(last.run) }]
}

async function attempts(world: World): Promise<readonly Attempt[]> {
  await requireControls(world)
  const since = new Date()
  const { certificate: cert = '', key = '' } = await readKubeconfig(adminKubeconfig(world.settings))
  const names = { 'x-remote-user': 'system:apiserver', 'x-forwarded-client-cert': 'CN=system:apiserver' }
  const address = platformAddress(world.targets, port)
  return lastly(
    [
      fromPod(world, service),
      fromPod(world, `https://${address}:${port}`, '/records'),
      fromBroker(world),
      fromNode(world, 'without a certificate', {}),
      fromNode(world, 'without a certificate, with headers of a proxy', { headers: names }),
      fromNode(world, 'with the certificate of an administrator of the cluster', { cert, key }),
    ],
    nothingWritten(world, since),
  )
}

export const recordsAttacks: readonly Attack[] = [
  {
    name: 'records/forged',
    as: 'a pod of globex, the pod of the broker, and the node with other certificates than that of the API server',
    against: 'the records of who changes access',
    tries: `Says on port ${port} that somebody ended a grant of acme, who did not.`,
    expected: ['network', 'authentication', 'absent'],
    attempts,
  },
]
