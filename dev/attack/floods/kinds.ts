// The floods: what each sends, how often, and from where. Each stays below what one tenant, or one stranger with one machine,
// can do.
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Agent, request } from 'undici'
import { neighbourNamespace } from '../../demo/context.ts'
import { corePath, groupPath } from '../cluster/api-attempts.ts'
import { newBrowser } from '../outside/visitor.ts'
import { serviceAccountToken } from '../world/actors.ts'
import { agentName } from '../world/agent-pod.ts'
import type { World } from '../world/world.ts'
import { chartChanges, secretChanges } from './application-changes.ts'
import type { Flood, FloodSource } from './flood.ts'
import { tenantLimits } from './tenant-limits.ts'

/** A stranger on another address than the bystander: the bridge of the pods, where this host has one. */
function strangerAgent(world: World): Agent {
  const connectOptions = { ca: world.demo.certificateAuthority, localAddress: world.settings.podGateway, timeout: 5000 }
  return new Agent({ allowH2: false, connect: connectOptions, connections: 64 })
}

function strangerRequests(
  path: string,
  options: { readonly method: 'GET' | 'POST'; readonly headers?: Record<string, string>; readonly body?: string },
): Flood['prepare'] {
  return async world => {
    const agent = strangerAgent(world)
    return {
      async once() {
        const answer = await request(`${world.targets.issuer}${path}`, { ...options, dispatcher: agent, headersTimeout: 20_000 })
        await answer.body.dump()
        return String(answer.statusCode)
      },
      end: () => agent.destroy(),
    }
  }
}

/** Objects of gary's own, under numbered names; every one is deleted at the end. */
function objects(
  collection: string,
  object: (number: number) => { readonly metadata: { readonly name: string } },
): Flood['prepare'] {
  return async world => ({
    async once(number) {
      const json = object(number)
      await world.journal.note({ kind: 'object', path: `${collection}/${json.metadata.name}` })
      return String((await world.api('gary', 'POST', collection, { json })).status)
    },
  })
}

const grants = groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'repositorygrants')

function grant(number: number) {
  const spec = {
    installation: 'github',
    repositories: number % 2 === 0 ? ['globex/site', 'GLOBEX/site'] : ['acme/shop'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'default' }],
    reason: 'a flood',
  }
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name: `attack-flood-${number}` },
    spec,
  }
}

function configMap(number: number) {
  const labels = {
    'sekisho.dev/chart': 'true',
    'sekisho.dev/application': 'shop',
    'sekisho.dev/tenant': 'acme',
    'app.kubernetes.io/managed-by': 'sekisho',
  }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `attack-flood-${number}`, labels },
    data: { x: 'y'.repeat(50_000) },
  }
}

/** Connections that never finish what they began: half without TLS, half in the middle of a request's head. */
async function halfOpen(world: World): Promise<FloodSource> {
  const { hostname: host, port } = new URL(world.targets.issuer)
  const sockets: { destroy: () => void }[] = []
  const options = { host, port: Number(port || 443), localAddress: world.settings.podGateway }
  const once = (number: number): Promise<string> =>
    new Promise(resolve => {
      const socket = number % 2 === 0 ? connect(options) : connectTls({ ...options, rejectUnauthorized: false })
      sockets.push(socket)
      socket.on('error', () => resolve('refused'))
      socket.on(number % 2 === 0 ? 'connect' : 'secureConnect', () => {
        if (number % 2 === 1) socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
        resolve('open')
      })
      socket.setTimeout(10_000, () => resolve('silent'))
    })
  return {
    once,
    async end() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** The token that the pod of globex would get from its own projected volume: the desk knows it, and reads grants for it. */
async function ownWorkloadToken(world: World): Promise<string> {
  await world.probe({ kind: 'environment' })
  const pods = (await world.admin.call('GET', corePath(neighbourNamespace, 'pods'))) as {
    items: readonly { metadata: { name: string; uid: string } }[]
  }
  const pod = pods.items.find(({ metadata }) => metadata.name.startsWith(agentName))
  if (pod === undefined) throw new Error('the pod of globex is gone')
  return serviceAccountToken(world.admin, {
    namespace: neighbourNamespace,
    name: 'default',
    audiences: ['sekisho'],
    pod: pod.metadata,
  })
}

async function deskRequests(world: World): Promise<FloodSource> {
  const bearer = await ownWorkloadToken(world)
  const probe = {
    kind: 'http' as const,
    url: 'https://sekisho-token-desk.sekisho-system.svc/v1/token',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
    body: JSON.stringify({ grant: 'demo-reader' }),
  }
  return {
    async once() {
      const result = await world.probe(probe)
      return result.kind === 'answered' ? String(result.status) : result.kind
    },
  }
}

async function onboardings(world: World): Promise<FloodSource> {
  const browser = await newBrowser(world, 'gary')
  const page = await browser.open(`${world.targets.issuer}/onboard`)
  const csrf = page.root.querySelector('input[name=csrf]')?.getAttribute('value') ?? ''
  const { spec } = (await world.admin.call(
    'GET',
    `/apis/github.sekisho.dev/v1alpha1/namespaces/${neighbourNamespace}/installations/github`,
  )) as {
    spec: { installationId: number }
  }
  return {
    async once() {
      const { status } = await browser.submit(`${world.targets.issuer}/onboard/installed`, {
        csrf,
        installation_id: String(spec.installationId),
      })
      return String(status)
    },
    end: () => browser.close(),
  }
}

const delivery = {
  'content-type': 'application/json',
  'x-github-event': 'push',
  'x-github-delivery': '00000000-0000-0000-0000-000000000000',
  'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
}

export const floods: readonly Flood[] = [
  {
    name: 'webhooks',
    as: 'a sender without the webhook secret',
    tries: 'Deliveries with a wrong signature, 200 a second.',
    perSecond: 200,
    prepare: strangerRequests('/webhooks/github', { method: 'POST', headers: delivery, body: '{"x":1}' }),
  },
  {
    name: 'sign-ins',
    as: 'a client without a credential',
    tries: 'Sign-ins that are never finished, 100 a second.',
    perSecond: 100,
    prepare: strangerRequests('/login', { method: 'GET' }),
  },
  {
    name: 'connections',
    as: 'a client without a credential',
    tries: 'Connections that never finish TLS or a request, 20 new ones a second.',
    perSecond: 20,
    prepare: halfOpen,
  },
  {
    name: 'desk',
    as: 'a pod of globex',
    tries: 'Requests for tokens that must be refused, 100 a second.',
    perSecond: 100,
    prepare: deskRequests,
  },
  {
    name: 'onboardings',
    as: 'gary, owner of globex',
    tries: 'Onboardings that he never confirms, five a second.',
    perSecond: 5,
    prepare: onboardings,
  },
  {
    name: 'grants',
    as: 'gary, admin of globex',
    tries: 'Grants that are denied or name a repository twice, eight a second, up to the quota.',
    perSecond: 8,
    causes: 'checks of grants',
    prepare: objects(grants, grant),
  },
  {
    name: 'config-maps',
    as: 'gary, admin of globex',
    tries: 'ConfigMaps of 50 KB with labels of the platform, eight a second, up to the quota.',
    perSecond: 8,
    prepare: objects(corePath(neighbourNamespace, 'configmaps'), configMap),
  },
  {
    name: 'charts',
    as: 'gary, admin of globex',
    tries: 'Twenty Applications whose charts are rendered again with every change, ten changes a second.',
    perSecond: 10,
    prepare: chartChanges,
  },
  {
    name: 'app-secrets',
    as: 'gary, admin of globex',
    tries: 'One AppSecret that twenty Applications use, changed twice a second: each change concerns all of them.',
    perSecond: 2,
    prepare: secretChanges,
  },
  {
    name: 'tenant-limits',
    as: 'gary, admin of globex',
    tries:
      'Pods that hold all that the kernel gives them, a hundred Services of four ports before thirty pods, and ten changes of their selectors a second.',
    perSecond: 10,
    prepare: tenantLimits,
  },
]
