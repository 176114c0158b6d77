// What an image says about its processes, and what an Application runs because of it. The labels are of the form that
// lifecycles write.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { createFakeClock, settle } from '../../../lib/testing/fake-clock.ts'
import { contentsOf, type Description } from './contents.ts'
import { cronOf, environmentOf, foundIn, needsContents, processesOf } from './processes.ts'
import { createImageContentsReader, type ImageReader } from './read-contents.ts'

const image = `registry.test/apps/acme/shop@sha256:${'a'.repeat(64)}`

type ProcessText = { readonly type: string; readonly command: unknown; readonly args?: readonly string[] }

function built(processes: readonly ProcessText[], entryPoint = '/cnb/process/web', ports: readonly number[] = []): Description {
  return { labels: { 'io.buildpacks.build.metadata': JSON.stringify({ processes }) }, entryPoint: [entryPoint], ports }
}

function known(description: Description) {
  const read = contentsOf(image, description)
  if (read.kind !== 'known') throw new Error(read.message)
  return read.contents
}

const procfile = built([
  { type: 'worker', command: ['node', 'worker.js'] },
  { type: 'web', command: ['node', 'server.js'] },
  { type: 'my_cron', command: ['node', 'cron.js'] },
  { type: 'release', command: ['node', 'migrate.js'] },
])

describe('the processes of an image', () => {
  test('are those of the buildpacks, web first, without that of the release phase', () => {
    expect(known(procfile)).toEqual({
      image,
      processes: [
        { name: 'web', type: 'web' },
        { name: 'worker', type: 'worker' },
        { name: 'my-cron', type: 'my_cron' },
      ],
    })
  })

  test('that are the same program are one process', () => {
    const java = ['executable-jar', 'task', 'web'].map(type => ({ type, command: ['java'], args: ['-jar', 'a.jar'] }))
    expect(known(built(java, '/cnb/process/executable-jar')).processes).toEqual([{ name: 'web', type: 'web' }])
  })

  test('the entry point is web when no type has that name', () => {
    const types = [
      { type: 'hello', command: ['a'] },
      { type: 'other', command: ['b'] },
    ]
    expect(known(built(types, '/cnb/process/other')).processes).toEqual([
      { name: 'web', type: 'other' },
      { name: 'hello', type: 'hello' },
    ])
  })

  test('an image without buildpacks has its entry point and its port', () => {
    expect(known({ labels: {}, entryPoint: ['/server'], ports: [443, 8080] })).toEqual({
      image,
      port: 8080,
      otherPorts: [443],
    })
    expect(known({ labels: {}, entryPoint: ['/server'], ports: [80, 443] })).toEqual({ image, port: 80, otherPorts: [443] })
    expect(known({ labels: {}, entryPoint: [], ports: [] })).toEqual({ image })
  })

  test.each<[string, Description]>([
    ['too many', built(Array.from({ length: 21 }, (_, index) => ({ type: `p${index}`, command: [String(index)] })))],
    [
      'names that become one',
      built([
        { type: 'a_b', command: ['1'] },
        { type: 'a.b', command: ['2'] },
      ]),
    ],
    ['a label of megabytes', { labels: { 'io.buildpacks.build.metadata': ' '.repeat(1_048_577) }, entryPoint: [], ports: [] }],
  ])('%s are refused for good', (_what, description) => {
    expect(contentsOf(image, description)).toMatchObject({ kind: 'unreadable', permanent: true })
  })

  test('hostile types are left out: nothing of them gets into a path', () => {
    const types = ['../../bin/sh', 'a b', '', 'x'.repeat(65), '---', '"', 'ok'].map(type => ({ type, command: [type] }))
    expect(known(built(types)).processes).toEqual([{ name: 'ok', type: 'ok' }])
    expect(
      known({ labels: { 'io.buildpacks.build.metadata': '{"processes":[null,1,[],{"type":{}}]}' }, entryPoint: [], ports: [] })
        .processes,
    ).toEqual([])
    expect(known({ labels: { 'io.buildpacks.build.metadata': 'not JSON' }, entryPoint: [], ports: [] }).processes).toEqual([])
  })
})

describe('the folder of an application in its image', () => {
  const inFolder = (folder: string) => {
    const { labels, ...rest } = procfile
    return known({ ...rest, labels: { ...labels, 'sekisho.dev/application-folder': folder } })
  }

  test.each(['apps/api', 'my apps/api', 'a$(B)'])('is %s', folder => {
    expect(inFolder(folder).folder).toBe(folder)
  })

  test.each(['', '.', '..', '../etc', 'apps/../..', 'a/../b', '/etc', 'a//b', 'a/', './a', 'x'.repeat(513)])(
    'is never %s, which code of a build can say',
    folder => {
      expect(inFolder(folder).folder).toBeUndefined()
    },
  )

  test('is where commands start: each container is told, and what the spec says goes before', () => {
    const environment = (env: NonNullable<Application['spec']['env']>, contents: ReturnType<typeof known>) =>
      environmentOf({ application: { spec: { chart: 'web', env } } as Application, contents: { kind: 'known', contents } })
    const other = { name: 'A', value: 'b' }
    expect(environment([other], inFolder('apps/api'))).toEqual([{ name: 'CNB_APP_DIR', value: '/workspace/apps/api' }, other])
    const own = { name: 'CNB_APP_DIR', value: '/workspace' }
    expect(environment([own], inFolder('apps/api'))).toEqual([own])
    expect(environment([other], known(procfile))).toEqual([other])
  })
})

const process = { replicas: 1, cpu: '50m', memory: '256Mi' }
const cron = {
  name: 'my-cron',
  schedule: '@daily',
  concurrency: 'Forbid',
  keepSucceeded: 1,
  keepFailed: 1,
  timeoutSeconds: 1,
  cpu: '1m',
  memory: '1Mi',
} as const

describe('what an Application runs', () => {
  const contents = known(procfile)

  test('without processes of its own: those of the image, one pod each, web with a port', () => {
    expect(processesOf({ chart: 'web' }, contents)).toEqual([
      { name: 'web', port: 8080, ...process },
      { name: 'worker', command: ['/cnb/process/worker'], ...process },
      { name: 'my-cron', command: ['/cnb/process/my_cron'], ...process },
    ])
  })

  test('what runs by a schedule does not run all the time', () => {
    const spec = { chart: 'web', cron: [cron] }
    expect(processesOf(spec, contents).map(({ name }) => name)).toEqual(['web', 'worker'])
    expect(cronOf(spec, contents)).toEqual([{ ...cron, command: ['/cnb/process/my_cron'] }])
  })

  test('a command of its own runs in the environment of the layers; in another image it runs as it is', () => {
    const spec = { chart: 'web', processes: [{ name: 'worker', command: ['node', 'other.js'], ...process }] }
    expect(processesOf(spec, contents)[0]?.command).toEqual(['/cnb/lifecycle/launcher', '--', 'node', 'other.js'])
    expect(processesOf(spec, { image })[0]?.command).toEqual(['node', 'other.js'])
    expect(processesOf(spec, undefined)[0]?.command).toEqual(['node', 'other.js'])
  })

  test('of an image that is not read: its entry point as web at 8080', () => {
    expect(processesOf({ chart: 'web' }, undefined)).toEqual([{ name: 'web', port: 8080, ...process }])
    expect(processesOf({ chart: 'web' }, { image, port: 9000 })).toEqual([{ name: 'web', port: 9000, ...process }])
  })

  test('the image counts unless web alone runs by its entry point', () => {
    expect(needsContents({ chart: 'web', processes: [{ name: 'web', port: 1, ...process }] })).toBe(false)
    expect(needsContents({ chart: 'web', processes: [] })).toBe(false)
    const releaseJob = { command: ['x'], timeoutSeconds: 60 }
    for (const spec of [
      {},
      { processes: [], releaseJob },
      { processes: [{ name: 'worker', ...process }] },
      { processes: [], cron: [cron] },
    ])
      expect(needsContents({ chart: 'web', ...spec })).toBe(true)
  })

  test('the status shows what was found, only while the spec names none', () => {
    const application = app()
    expect(foundIn({ application, contents: { kind: 'known', contents } }).processes).toEqual([
      { name: 'web', port: 8080 },
      { name: 'worker' },
      { name: 'my-cron' },
    ])
    const own = { ...application, spec: { ...application.spec, processes: [] } }
    expect(foundIn({ application: own, contents: { kind: 'unread' } })).toEqual({})
    expect(foundIn({ application, contents: { kind: 'pending', requeueAfterMilliseconds: 1 } })).toEqual({})
  })
})

function app(spec: Partial<Application['spec']> = {}, status?: Application['status']): Application {
  const metadata = { name: 'shop', namespace: 'acme' }
  const object = {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata,
    spec: { chart: 'web', image, ...spec },
  }
  return status ? { ...object, status } : object
}

type Answer = Awaited<ReturnType<ImageReader['labelsOf']>>

/** A registry whose answers the test gives. */
function registry() {
  const clock = createFakeClock()
  const asked: { readonly image: string; readonly answer: (answer: Answer) => void }[] = []
  const place = { registry: 'registry.test/apps', aliases: [] }
  const labelsOf = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    asked.push({ image: name, answer: resolve })
    return promise
  }
  return { clock, asked, reader: createImageContentsReader({ place, labelsOf }, clock) }
}

describe('reading images', () => {
  test('goes on in the background, once for all who ask, and is not repeated', async () => {
    const { asked, reader } = registry()
    expect(reader.stateOf(app())).toMatchObject({ kind: 'pending' })
    expect(reader.stateOf(app())).toMatchObject({ kind: 'pending' })
    expect(asked).toHaveLength(1)
    asked[0]?.answer({ kind: 'labels', ...procfile })
    await settle()
    expect(reader.stateOf(app())).toMatchObject({ kind: 'known', contents: { image } })
    expect(asked).toHaveLength(1)
  })

  test('all who asked learn once when it is read, also after a failure', async () => {
    const { asked, reader, clock } = registry()
    const woken: string[] = []
    reader.onRead(({ namespace, name }) => woken.push(`${namespace}/${name}`))
    const other = app()
    const [first, second] = [app(), { ...other, metadata: { ...other.metadata, name: 'second' } }]
    for (const one of [first, second, first]) reader.stateOf(one)
    expect(woken).toEqual([])
    asked[0]?.answer({ kind: 'unreadable', message: 'away', permanent: false })
    await settle()
    expect(woken).toEqual([`acme/${first.metadata.name}`, 'acme/second'])
    await clock.advance(10_000)
    expect(reader.stateOf(first)).toMatchObject({ kind: 'unreadable' })
    asked[1]?.answer({ kind: 'labels', ...procfile })
    await settle()
    expect(woken.slice(2)).toEqual([`acme/${first.metadata.name}`])
    expect(reader.stateOf(first)).toMatchObject({ kind: 'known' })
  })

  test('a failure is repeated after a while, and said until then', async () => {
    const { asked, reader, clock } = registry()
    reader.stateOf(app())
    const failure = { kind: 'unreadable', message: 'away', permanent: false } as const
    asked[0]?.answer(failure)
    await settle()
    expect(reader.stateOf(app())).toEqual(failure)
    expect(asked).toHaveLength(1)
    await clock.advance(10_000)
    expect(reader.stateOf(app())).toEqual(failure)
    expect(asked).toHaveLength(2)
  })

  test.each<[string, Partial<Application['spec']>]>([
    ['of another tenant', { image: image.replace('/acme/', '/globex/') }],
    ['of another registry', { image: image.replace('registry.test', 'example.com') }],
    ['by a tag', { image: 'registry.test/apps/acme/shop:latest' }],
    ['that does not matter', { processes: [{ name: 'web', port: 1, ...process }] }],
  ])('an image %s is never read', (_what, spec) => {
    const { asked, reader } = registry()
    expect(reader.stateOf(app(spec))).toEqual({ kind: 'unread' })
    expect(asked).toEqual([])
  })

  test('what the status says about this image is enough; about another image it is not', () => {
    const { asked, reader } = registry()
    expect(reader.stateOf(app({}, { imageContents: { image, port: 1 } }))).toEqual({
      kind: 'known',
      contents: { image, port: 1 },
    })
    expect(reader.stateOf(app({}, { imageContents: { image: 'other', port: 1 } }))).toMatchObject({ kind: 'pending' })
    expect(asked).toHaveLength(1)
  })

  test('at most eight are read at a time', () => {
    const { asked, reader } = registry()
    for (let n = 0; n < 20; n++) reader.stateOf(app({ image: `registry.test/apps/acme/a${n}@sha256:${'a'.repeat(64)}` }))
    expect(asked).toHaveLength(8)
  })
})
