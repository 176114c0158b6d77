// Pods that do not end: grace periods and deadlines of years, finalizers, and a program that ignores every signal. A pod that
// stays keeps its namespace from being deleted, and its node from being drained (docs/adr/0060-an-end-that-comes.md).
import { setTimeout as pause } from 'node:timers/promises'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { type ApiAttempt, apiAttempts, corePath, mergePatch } from '../cluster/api-attempts.ts'
import { podSpec, templates } from '../cluster/mounts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'

type Fields = Readonly<Record<string, unknown>>

const pods = corePath(neighbourNamespace, 'pods')
const hour = 3600
const ages = 2 ** 31
/** The most that the API server takes for a deadline. */
const maxDeadline = 2 ** 31 - 1

const probe = (field: string, seconds: number): Fields => ({
  [field]: { tcpSocket: { port: 80 }, terminationGracePeriodSeconds: seconds },
})

function endless(image: string): readonly (readonly [string, Fields])[] {
  const { containers } = podSpec(image, {}, {}) as { readonly containers: readonly [Fields] }
  const sidecar = { ...containers[0], name: 'side', restartPolicy: 'Always', ...probe('livenessProbe', ages) }
  return [
    ['a grace period of an hour and a second', podSpec(image, { terminationGracePeriodSeconds: hour + 1 })],
    ['a grace period of 68 years', podSpec(image, { terminationGracePeriodSeconds: ages })],
    ['the longest grace period that JSON can say', podSpec(image, { terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER })],
    ['a liveness probe with 68 years of grace', podSpec(image, {}, probe('livenessProbe', ages))],
    ['a startup probe with 68 years of grace', podSpec(image, {}, probe('startupProbe', ages))],
    ['a sidecar with 68 years of grace', podSpec(image, { initContainers: [sidecar] })],
    [
      'a sleep of 68 years before its end',
      podSpec(image, { terminationGracePeriodSeconds: hour + 1 }, { lifecycle: { preStop: { sleep: { seconds: hour + 1 } } } }),
    ],
    ['a toleration of drained nodes', podSpec(image, { tolerations: [{ key: 'node.kubernetes.io/unschedulable' }] })],
    ['a toleration of everything', podSpec(image, { tolerations: [{ operator: 'Exists' }] })],
  ]
}

const jobTracking = 'batch.kubernetes.io/job-tracking'
const heldBy = ['attack.example/hold', 'foregroundDeletion', 'kubernetes.io/pvc-protection', jobTracking]

/** The object with this metadata where its pods get theirs from. */
function marked(object: object, metadata: object): object {
  const withMetadata = (at: Fields): Fields => {
    if (at['jobTemplate'] !== undefined) return { ...at, jobTemplate: withSpec(at['jobTemplate'] as Fields) }
    const template = at['template'] as { readonly metadata?: object }
    return { ...at, template: { ...template, metadata: { ...template.metadata, ...metadata } } }
  }
  const withSpec = (at: Fields): Fields => ({ ...at, spec: withMetadata(at['spec'] as Fields) })
  return withSpec(object as Fields)
}

function deadlines(image: string): readonly ApiAttempt[] {
  const jobs = templates(podSpec(image)).filter(([kind]) => kind === 'Job' || kind === 'CronJob')
  return jobs.flatMap(([kind, path, object]) =>
    ['activeDeadlineSeconds', 'ttlSecondsAfterFinished'].map((field): ApiAttempt => {
      const { spec, ...rest } = object as { readonly spec: Fields & { readonly jobTemplate?: { readonly spec: object } } }
      const more = { [field]: maxDeadline }
      const { jobTemplate } = spec
      const changed = jobTemplate === undefined ? more : { jobTemplate: { spec: { ...jobTemplate.spec, ...more } } }
      const json = { ...rest, spec: { ...spec, ...changed } }
      return { as: 'gary', method: 'POST', path, json, name: `${kind} with ${field} of 68 years`, dry: true }
    }),
  )
}

async function refused(world: World): Promise<readonly Attempt[]> {
  const image = await world.ownImage()
  const pod = (name: string, spec: Fields, metadata: object = {}): ApiAttempt => ({
    as: 'gary',
    method: 'POST',
    path: pods,
    json: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'attack-end', ...metadata }, spec },
    name,
    dry: true,
  })
  const template = (what: string, [kind, path, json]: readonly [string, string, object]): ApiAttempt => ({
    as: 'gary',
    method: 'POST',
    path,
    json,
    name: `${kind} with ${what}`,
    dry: true,
  })
  return apiAttempts(world, [
    ...endless(image).flatMap(([what, spec]) => [
      pod(`Pod with ${what}`, spec),
      ...templates(spec).map(one => template(what, one)),
    ]),
    pod('Pod that may run for 68 years', podSpec(image, { activeDeadlineSeconds: maxDeadline })),
    ...deadlines(image),
    ...heldBy.flatMap(finalizer => [
      pod(`Pod with the finalizer ${finalizer}`, podSpec(image), { finalizers: [finalizer] }),
      ...templates(podSpec(image)).map(([kind, path, object]) =>
        template(`pods with the finalizer ${finalizer}`, [kind, path, marked(object, { finalizers: [finalizer] })]),
      ),
    ]),
  ])
}

type Living = {
  readonly what: string
  readonly name: string
  readonly spec: (image: string) => Fields
  readonly metadata?: (world: World) => Promise<object>
}

/** Never ends by itself: it hears no signal, and what runs before its end does not end either. */
const deaf = ['/usr/local/bin/node', '-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"]
const wait: Fields = { preStop: { exec: { command: ['/usr/local/bin/node', '-e', 'setInterval(() => {}, 1000)'] } } }
const graceSeconds = 2
/** Beside the grace period: what a busy kubelet and the controllers of Kubernetes need. */
const patience = 40_000

/** An owner of gary’s own that is no Job: the controller of Jobs then leaves the finalizer alone. */
async function otherOwner(world: World): Promise<object> {
  const path = corePath(neighbourNamespace, 'configmaps')
  const name = 'attack-owner'
  await world.journal.note({ kind: 'object', path: `${path}/${name}` })
  const json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
  const answer = await world.api('gary', 'POST', path, { json })
  const { uid } = (JSON.parse(answer.text) as { readonly metadata: { readonly uid: string } }).metadata
  return {
    finalizers: [jobTracking],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }],
  }
}

const living: readonly Living[] = [
  {
    what: 'a program that ignores its end, and a preStop that never ends',
    name: 'attack-end-deaf',
    spec: image => podSpec(image, { terminationGracePeriodSeconds: graceSeconds }, { command: deaf, lifecycle: wait }),
  },
  {
    what: 'the finalizer of the controller of Jobs, without a Job',
    name: 'attack-end-job',
    spec: image => podSpec(image, { terminationGracePeriodSeconds: graceSeconds }, { command: deaf }),
    metadata: async () => ({ finalizers: [jobTracking] }),
  },
  {
    what: 'the finalizer of the controller of Jobs, and an owner that is no Job',
    name: 'attack-end-owner',
    spec: image => podSpec(image, { terminationGracePeriodSeconds: graceSeconds }, { command: deaf }),
    metadata: otherOwner,
  },
]

/** Deletes the pod, and waits until it is gone. */
async function judgeEnd(world: World, path: string): Promise<Verdict> {
  const started = performance.now()
  await world.api('gary', 'DELETE', path)
  for (const deadline = started + patience; performance.now() < deadline; await pause(200))
    if ((await world.admin.request('GET', path)).status === 404)
      return stopped('bound', `gone ${((performance.now() - started) / 1000).toFixed(0)} s after its deletion`)
  const { body } = await world.admin.request('GET', path)
  return succeeded(
    `still there ${patience / 1000} s after its deletion: ${JSON.stringify((body as { metadata: object }).metadata)}`,
  )
}

function live(world: World, { what, name, spec, metadata }: Living): Attempt {
  return {
    name: `gary: a Pod with ${what}`,
    async run() {
      const path = `${pods}/${name}`
      await world.journal.note({ kind: 'object', path })
      const json = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, ...(await metadata?.(world)) },
        spec: spec(await world.ownImage()),
      }
      const answer = await world.api('gary', 'POST', pods, { json })
      if (answer.status >= 300) return judgeApi(answer)
      try {
        return await judgeEnd(world, path)
      } finally {
        await release(world, path)
      }
    },
  }
}

/** The administrator lets go of what the attack left. */
async function release(world: World, path: string): Promise<void> {
  await world.admin.request('PATCH', path, { metadata: { finalizers: null } }, mergePatch)
  await world.admin.request('DELETE', `${path}?gracePeriodSeconds=0`)
}

export const podEndAttacks: readonly Attack[] = [
  {
    name: 'ends/pods',
    as: 'gary, admin of globex',
    against: 'the end of his namespace, and whoever drains a node',
    tries: 'Pods and templates whose grace periods, deadlines or finalizers keep a pod for years after its deletion.',
    expected: ['admission', 'schema'],
    attempts: refused,
  },
  {
    name: 'ends/running-pods',
    as: 'gary, admin of globex',
    against: 'the end of his namespace, and whoever drains a node',
    tries: 'Pods that run and ignore their end, or that a finalizer of Kubernetes itself would hold.',
    expected: ['bound', 'admission'],
    attempts: world => living.map(one => live(world, one)),
  },
]
