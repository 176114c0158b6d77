// Floods of changes that the controllers must act on: each makes releases, and what belongs to them, without a pod.
import { neighbourNamespace } from '../../demo/context.ts'
import { groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { emptyApplication } from '../deputies/manifests.ts'
import { applicationsPath, type World } from '../world/world.ts'
import type { FloodSource } from './flood.ts'

const lanes = 20
const secrets = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'appsecrets')
const secret = 'attack-flood'

/** One that is there already is from an earlier try. */
async function create(world: World, path: string, json: { readonly metadata: { readonly name: string } }): Promise<void> {
  await world.journal.note({ kind: 'object', path: `${path}/${json.metadata.name}` })
  const { status, text } = await world.api('gary', 'POST', path, { json })
  if (status !== 201 && status !== 409) throw new Error(`gary cannot create ${json.metadata.name}: ${status} ${text}`)
}

/** Applications `<prefix>-0` to `<prefix>-19`. */
async function createLanes(world: World, prefix: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const image = await world.ownImage()
  const processes = [{ name: 'web', port: 3000, replicas: 0, memory: '64Mi' }]
  for (let lane = 0; lane < lanes; lane++)
    await create(world, applicationsPath, emptyApplication(`${prefix}-${lane}`, { image, processes, ...spec }))
}

async function patched(world: World, path: string, spec: Readonly<Record<string, unknown>>): Promise<string> {
  return String((await world.api('gary', 'PATCH', path, { json: { spec }, contentType: mergePatch })).status)
}

/** Twenty Applications, one after the other. */
export async function chartChanges(world: World): Promise<FloodSource> {
  await createLanes(world, 'attack-lane', {})
  return {
    once: number =>
      patched(world, `${applicationsPath}/attack-lane-${number % lanes}`, { env: [{ name: 'NUMBER', value: String(number) }] }),
  }
}

/** One AppSecret that twenty Applications use: a change of it is a change of all of them. */
export async function secretChanges(world: World): Promise<FloodSource> {
  const values = (number: number) => ({ values: { NUMBER: String(number) } })
  const appSecret = { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'AppSecret', metadata: { name: secret }, spec: values(-1) }
  await create(world, secrets, appSecret)
  await createLanes(world, 'attack-reader', { envFrom: [{ secret }] })
  return { once: number => patched(world, `${secrets}/${secret}`, values(number)) }
}
