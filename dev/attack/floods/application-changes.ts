// Floods of changes that the controllers must act on: each makes releases, and what belongs to them, without a pod.
import { neighbourNamespace } from '../../demo/context.ts'
import { groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { emptyApplication } from '../deputies/manifests.ts'
import { applicationsPath, type World } from '../world/world.ts'
import type { FloodSource } from './flood.ts'
import { write } from './write.ts'

const lanes = 20
const secrets = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'appsecrets')
const secret = 'attack-flood'

const laneOf = (number: number): string => `attack-lane-${number % lanes}`

async function writeLanes(world: World, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const image = await world.ownImage()
  const processes = [{ name: 'web', port: 3000, replicas: 0, memory: '64Mi' }]
  for (let lane = 0; lane < lanes; lane++)
    await write(world, applicationsPath, emptyApplication(laneOf(lane), { image, processes, ...spec }))
}

async function patched(world: World, path: string, spec: Readonly<Record<string, unknown>>): Promise<string> {
  return String((await world.api('gary', 'PATCH', path, { json: { spec }, contentType: mergePatch })).status)
}

/** Twenty Applications, one after the other. */
export async function chartChanges(world: World): Promise<FloodSource> {
  await writeLanes(world, {})
  return {
    once: number => patched(world, `${applicationsPath}/${laneOf(number)}`, { env: [{ name: 'NUMBER', value: String(number) }] }),
  }
}

/** One AppSecret that twenty Applications use: a change of it is a change of all of them. */
export async function secretChanges(world: World): Promise<FloodSource> {
  const values = (number: number) => ({ values: { NUMBER: String(number) } })
  const appSecret = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppSecret', metadata: { name: secret }, spec: values(-1) }
  await write(world, secrets, appSecret)
  await writeLanes(world, { envFrom: [{ secret }] })
  return { once: number => patched(world, `${secrets}/${secret}`, values(number)) }
}
