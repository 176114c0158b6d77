// Releases of a running Application as a developer meets them, with kubectl and sekisho: secrets, roll back, scaling,
// suspension, a shell in a pod. The tests depend on each other: each begins with the release that the one before left.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { run } from '../../dev/demo/tools.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applicationManifest } from './manifests.ts'
import { list, read, readyOf, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { requestVersion, watchServing } from './serving.ts'

const name = 'e2e-releases'
const reference = `application/${name}`
const url = `http://${name}.acme.localhost:8080`
/** Answers with two variables of its environment, one of which it logs when it begins. */
const server =
  "require('node:http').createServer((q, a) => a.end(process.env.COLOUR + ' ' + process.env.API_TOKEN)).listen(process.env.PORT, () => console.log('serves ' + process.env.COLOUR))"
const web = { name: 'web', port: 3000, memory: '64Mi', command: ['node', '-e', server], gracePeriodSeconds: 10 }

/** What a kubelet would change. */
const typed = 'pa$$word $(COLOUR) $(API_TOKEN) $HOME'

let platform: Platform
let image = ''

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  await platform.remove([reference])
  await dave(['delete', 'appsecret', name, '--ignore-not-found'])
  // While a grant names a ServiceAccount of the namespace, nobody of the tenant runs commands in its pods.
  await dave(['delete', 'repositorygrant', 'demo-reader', '--ignore-not-found'])
  image = String((await read(platform.admin, 'application/shop')).status?.['image'])
})

afterAll(async () => {
  await platform.remove([reference])
  await dave(['delete', 'appsecret', name, '--ignore-not-found'])
  await platform.admin.close()
})

const dave = (args: readonly string[]) => platform.kubectl('dave', [...args, '-n', 'acme'])

async function deploy(colour: string, spec: object = {}): Promise<void> {
  const env = [
    { name: 'COLOUR', value: colour },
    { name: 'TYPED', value: typed },
    { name: 'API_TOKEN', from: { secret: { name, key: 'API_TOKEN' } } },
  ]
  await platform.apply('dave', [
    applicationManifest(name, { image, env, processes: [web], rollout: { timeoutSeconds: 60 }, ...spec }),
  ])
}

async function answers(text: string): Promise<void> {
  await waitUntil(
    `${url} answers ${text}`,
    async () => {
      const answer = await requestVersion(url, '/')
      if (answer.status !== 200 || answer.text !== text) throw new Error(`${answer.status} ${answer.text}`)
      return true
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

async function setSecret(value: string): Promise<void> {
  const { people, tools } = platform.world
  const set = await run(people.dave, tools.sekisho, ['secrets', 'set', name, 'API_TOKEN', '--no-attach'], { input: value })
  expect(set).toMatchObject({ code: 0 })
  expect(set.output + set.errors).not.toContain(value)
}

test('an Application waits for its secret, and starts when somebody sets it; another value restarts it', async () => {
  await deploy('red')
  expect((await untilReason(platform.admin, reference, 'SecretNotFound')).message).toMatch(/sekisho secrets set/)
  await setSecret('first-token')
  await answers('red first-token')
  const serving = await watchServing(platform.admin, url)
  onTestFinished(serving.end)
  await setSecret('second-token')
  await answers('red second-token')
  await serving.endServed(1)
  expect((await dave(['get', 'appsecret', name, '-o', 'yaml'])).output).not.toMatch(/-token/)
})

test('a release that crashes is rolled back by itself, and nobody meets an error', async () => {
  const before = (await read(platform.admin, reference)).status?.['release']
  const serving = await watchServing(platform.admin, url)
  onTestFinished(serving.end)
  await deploy('blue', { processes: [{ ...web, command: ['node', '-e', 'process.exit(5)'] }] })
  const ready = await untilReason(platform.admin, reference, 'RolledBack', 120)
  expect(ready.message).toMatch(/exits with code 5/)
  await answers('red second-token')
  await serving.endServed(11)
  expect((await read(platform.admin, reference)).status?.['release']).toBe(before)
})

test('a person goes back to an earlier release and to the newest again', async () => {
  const first = Number((await read(platform.admin, reference)).status?.['release'])
  await deploy('green')
  await answers('green second-token')
  const back = await platform.sekisho('dave', ['rollback', name, String(first)])
  expect(back).toMatchObject({ code: 0 })
  await answers('red second-token')
  await untilReason(platform.admin, reference, 'Pinned')
  expect(await platform.sekisho('dave', ['rollback', name, '--resume'])).toMatchObject({ code: 0 })
  await answers('green second-token')
})

test('kubectl scale works on the Application, and every other way is refused with the one that works', async () => {
  expect(await dave(['scale', 'application', name, '--replicas=2'])).toMatchObject({ code: 0 })
  const pods = () => list(platform.admin, 'pod', `?labelSelector=sekisho.dev/application=${name}`)
  await waitUntil('two pods', async () => (await pods()).length === 2, { timeoutMilliseconds: limits.rollout })
  for (const args of [
    ['scale', 'deployment', `${name}-web`, '--replicas=5'],
    ['rollout', 'undo', `deployment/${name}-web`],
    ['set', 'image', `deployment/${name}-web`, 'web=docker.io/library/busybox'],
    ['delete', 'deployment', `${name}-web`],
  ]) {
    const refused = await dave(args)
    expect(refused, args.join(' ')).toMatchObject({ code: 1 })
    expect(refused.errors, args.join(' ')).toMatch(/application/i)
  }
  expect((await pods()).length).toBe(2)
})

test('dave runs a command in a pod and one task with the environment of the application', async () => {
  const shown = await platform.kubectl('dave', [
    'exec',
    '-n',
    'acme',
    `deployment/${name}-web`,
    '--',
    'node',
    '-p',
    'process.env.COLOUR',
  ])
  expect(shown).toMatchObject({ code: 0, output: 'green\n' })
  const task = await platform.sekisho('dave', [
    'run',
    name,
    '--',
    'node',
    '-e',
    'console.log(process.env.COLOUR); process.exit(6)',
  ])
  expect(task).toMatchObject({ code: 6, output: 'green\n' })
})

test('values and commands arrive in the pods as dave wrote them', async () => {
  const program = `console.log(process.env.TYPED === '${typed}' ? process.env.TYPED : 'the two differ')`
  const inPod = await platform.kubectl('dave', ['exec', '-n', 'acme', `deployment/${name}-web`, '--', 'node', '-e', program])
  expect(inPod).toMatchObject({ code: 0, output: `${typed}\n` })
  expect(await platform.sekisho('dave', ['run', name, '--', 'node', '-e', program])).toMatchObject({
    code: 0,
    output: `${typed}\n`,
  })
  expect((await platform.sekisho('dave', ['env', 'list', name])).output).toContain(typed)
})

test('sekisho ps, logs and open show its pods, what they write, and where it answers', async () => {
  const shown = async (args: readonly string[]): Promise<string> => {
    const result = await platform.sekisho('dave', args)
    expect(result, args.join(' ')).toMatchObject({ code: 0 })
    return result.output
  }
  type Line = { readonly application: string; readonly process: string; readonly pod: string; readonly ready: boolean }
  const pods = await waitUntil(
    'two ready pods',
    async () => {
      const lines = JSON.parse(await shown(['ps', name, '-o', 'json'])) as readonly Line[]
      const serving = lines.filter(line => line.process === 'web')
      return serving.length === 2 && serving.every(({ ready }) => ready) ? serving : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
  expect(pods.map(({ application }) => application)).toEqual([name, name])
  const table = await shown(['ps', name])
  for (const { pod } of pods) expect(table).toContain(pod)

  const log = await shown(['logs', name, 'web'])
  expect(log.match(/serves green/g)).toHaveLength(2)

  const address = (await shown(['open', name, '--no-browser'])).trim()
  expect(address).toBe((await read(platform.admin, reference)).status?.['url'])
  expect(await requestVersion(address, '/')).toMatchObject({ status: 200, text: 'green second-token' })
})

test('a suspended Application has no pods and answers 503; it comes back as it was', async () => {
  const suspend = (value: boolean) =>
    dave(['patch', reference, '--type=merge', '-p', JSON.stringify({ spec: { suspend: value } })])
  expect(await suspend(true)).toMatchObject({ code: 0 })
  await untilReason(platform.admin, reference, 'Suspended')
  await waitUntil(`${url} answers 503`, async () => (await requestVersion(url, '/')).status === 503)
  expect(await suspend(false)).toMatchObject({ code: 0 })
  await answers('green second-token')
})

test('deleted while its release job runs, it is gone with everything', async () => {
  await deploy('gold', { releaseJob: { command: ['node', '-e', 'setInterval(() => {}, 1000)'] } })
  await untilReason(platform.admin, reference, 'ReleaseJobRunning')
  await platform.remove([reference])
  await waitUntil(
    'no pod is left',
    async () => {
      const left = await list(platform.admin, 'pod', `?labelSelector=sekisho.dev/application=${name}`)
      return left.length === 0
    },
    { timeoutMilliseconds: limits.rollout },
  )
  expect(readyOf((await list(platform.admin, 'application')).find(({ metadata }) => metadata.name === name))).toBeUndefined()
})
