// Images of others, run rather than pulled by hand: by an Application and by a pod of globex.
import { setTimeout as pause } from 'node:timers/promises'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { corePath } from '../cluster/api-attempts.ts'
import { podSpec } from '../cluster/mounts.ts'
import { objectAttempt } from '../deputies/object-attempts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { ownPath, pathOfImage } from './registry.ts'

/** An Application of globex that names an image which is not its own. */
function foreignImages(world: World): readonly Attempt[] {
  const { image } = world.targets.victim
  const { registry } = world.targets
  const [name = ''] = image.split('@')
  const spellings = [
    image,
    name,
    `${name}:latest`,
    `${registry}/${ownPath(world)}/../../${pathOfImage(world).repository}`,
    `${registry}//${pathOfImage(world).repository}`,
    `${registry}/sekisho/sekisho:latest`,
  ]
  return spellings.map((spelling, number) =>
    objectAttempt(world, {
      name: `Application with the image ${spelling.slice(0, 80)}`,
      path: applicationsPath,
      object: {
        apiVersion: 'apps.sekisho.dev/v1alpha1',
        kind: 'Application',
        metadata: { name: `attack-image-${number}` },
        spec: { image: spelling, processes: [{ name: 'web', port: 3000, healthPath: '/healthz', memory: '64Mi' }] },
      },
      // A pull that fails says something only when it was the credential that failed.
      toldOf: { message: /pull access denied|authorization failed|unauthorized/, by: 'registry' },
      refusals: /^(ForeignImage|RefusedByCluster)$/,
      seconds: 12,
    }),
  )
}

type PodState = {
  readonly status?: {
    readonly phase?: string
    readonly containerStatuses?: readonly {
      readonly state: { readonly waiting?: { readonly reason: string; readonly message?: string } }
    }[]
  }
}

/** Runs a pod of globex to its first sign: it ran, or its image was refused for want of a credential. */
async function runPod(world: World, name: string, image: string, imagePullPolicy: string): Promise<Verdict> {
  const pods = corePath(neighbourNamespace, 'pods')
  const path = `${pods}/${name}`
  await world.journal.note({ kind: 'object', path })
  const json = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: podSpec(image, {}, { imagePullPolicy }) }
  const answer = await world.api('gary', 'POST', pods, { json })
  if (answer.status >= 300) return judgeApi(answer)
  let last = 'no status'
  for (const deadline = Date.now() + 25_000; Date.now() < deadline; await pause(250)) {
    const { status } = (await world.admin.call('GET', path)) as PodState
    if (['Running', 'Succeeded', 'Failed'].includes(status?.phase ?? '')) return succeeded(`the pod ran: ${status?.phase}`)
    const { reason, message } = status?.containerStatuses?.[0]?.state.waiting ?? {}
    if (reason === undefined || reason === 'ContainerCreating') continue
    last = `${reason}: ${message}`
    if (/unauthorized|authorization failed|authentication required|denied|401|403/i.test(last)) return stopped('registry', last)
    if (reason === 'ErrImageNeverPull') return stopped('kubelet', last)
  }
  return unclear(last)
}

export const foreignImageAttacks: readonly Attack[] = [
  {
    name: 'registry/foreign-images',
    as: 'gary, admin of globex',
    against: 'the image of acme, which the node has in its cache',
    tries: 'An Application runs another tenant’s image, in several spellings.',
    expected: ['admission', 'controller', 'schema', 'registry'],
    attempts: foreignImages,
  },
  {
    name: 'registry/foreign-images-in-pods',
    as: 'gary, admin of globex',
    against: 'the image of acme, which the node has in its cache',
    tries: 'A pod runs another tenant’s image, with each pull policy.',
    expected: ['admission', 'registry', 'kubelet'],
    attempts: world =>
      ['Always', 'IfNotPresent', 'Never'].map(policy => ({
        name: `gary: Pod with acme’s image, ${policy}`,
        run: () => runPod(world, `attack-image-${policy.toLowerCase()}`, world.targets.victim.image, policy),
      })),
  },
]
