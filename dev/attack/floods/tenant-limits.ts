// A tenant at every limit that nodes and kube-proxy share: pods that hold what the kernel gives one, as many Services as the
// quota allows with as many ports as a Service may have, all of them before the same pods, and selectors that change all the
// while.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import { corePath, groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { podSpec } from '../cluster/mounts.ts'
import { runTaker } from '../inside/node-limits.ts'
import type { World } from '../world/world.ts'
import type { FloodSource } from './flood.ts'
import { write } from './write.ts'

const name = 'attack-limits'
/** What one node takes beside the pods of the platform. */
const replicas = 30
const takers = 2
/** Of `spec.ports` of a Service in a tenant's namespace, and of its Services. */
const [portsOfService, servicesOfTenant] = [4, 100]
const deployments = groupPath('apps/v1', neighbourNamespace, 'deployments')
const services = corePath(neighbourNamespace, 'services')
const selector = { app: name }
const elsewhere = { app: `${name}-none` }

export async function tenantLimits(world: World): Promise<FloodSource> {
  await write(world, deployments, deployment(await world.ownImage()))
  await waitUntil(
    'most of the pods behind the Services to run',
    async () => {
      const { status, text } = await world.api('gary', 'GET', `${deployments}/${name}`)
      if (status !== 200) throw new Error(`gary cannot read his Deployment: ${status}`)
      const ready = (JSON.parse(text) as { status: { readyReplicas?: number } }).status.readyReplicas ?? 0
      return ready > replicas / 2
    },
    { timeoutMilliseconds: limits.build },
  )
  for (let number = 0; number < takers; number++) await runTaker(world, `${name}-${number}`)
  const made = await makeServices(world)
  return {
    once: number => switched(world, made[number % made.length] ?? name, Math.floor(number / made.length) % 2 === 0),
    async end() {
      await world.api('gary', 'DELETE', `${deployments}/${name}?propagationPolicy=Background`)
      for (const service of made) await world.api('gary', 'DELETE', `${services}/${service}`)
      for (let number = 0; number < takers; number++)
        await world.api('gary', 'DELETE', `${corePath(neighbourNamespace, 'pods')}/${name}-${number}?gracePeriodSeconds=0`)
    },
  }
}

function deployment(image: string) {
  const container = {
    command: ['/usr/bin/python3', '-c', 'import signal; signal.pause()'],
    resources: { requests: { cpu: '1m', memory: '16Mi' }, limits: { memory: '32Mi' } },
  }
  const spec = podSpec(image, { restartPolicy: 'Always', terminationGracePeriodSeconds: 1 }, container)
  const template = { metadata: { labels: selector }, spec }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: selector }, template },
  }
}

/** The names of those that the quota let through. */
async function makeServices(world: World): Promise<readonly string[]> {
  const made: string[] = []
  for (let number = 0; number < servicesOfTenant; number++) {
    const ports = Array.from({ length: portsOfService }, (_, index) => ({ name: `p${index}`, port: 8000 + index }))
    const json = { apiVersion: 'v1', kind: 'Service', metadata: { name: `${name}-${number}` }, spec: { selector, ports } }
    await world.journal.note({ kind: 'object', path: `${services}/${json.metadata.name}` })
    const { status, text } = await world.api('gary', 'POST', services, { json })
    if (status === 403 && text.includes('exceeded quota')) break
    if (status >= 300) throw new Error(`gary cannot make a Service: ${status} ${text}`)
    made.push(json.metadata.name)
  }
  return made
}

async function switched(world: World, service: string, away: boolean): Promise<string> {
  const json = { spec: { selector: away ? elsewhere : selector } }
  return String((await world.api('gary', 'PATCH', `${services}/${service}`, { json, contentType: mergePatch })).status)
}
