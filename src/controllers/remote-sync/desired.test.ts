import { expect, test } from 'vitest'
import { SecretString } from '../../lib/secret-string.ts'
import { buildName, desiredBuild, desiredSource } from './desired.ts'
import { application, commit, facts, named, sync } from './testing/remote-sync.ts'

const env = [{ name: 'A', value: '1' }]
const told = (value: object) => ({ name: 'BP_APPLICATION_PROCESSES', value: JSON.stringify(value) })

test('the name of a build follows from what is built', () => {
  const first = buildName(sync(), commit, 1)
  expect(first).toMatch(/^shop-[0-9a-f]{12}$/)
  expect(buildName(sync(), commit, 1)).toBe(first)
  const others = [
    buildName(sync(), 'b'.repeat(40), 1),
    buildName(sync(), commit, 2),
    buildName(sync({ subPath: 'web' }), commit, 1),
    buildName(sync({ build: { ...sync().spec.build, env } }), commit, 1),
    buildName(named('shop', 'uid-2'), commit, 1),
  ]
  expect(new Set([first, ...others]).size).toBe(6)
})

test('the name of a build fits a pod', () => {
  const name = buildName(named(`${'x'.repeat(29)}.-.${'y'.repeat(200)}`), commit, 1)
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
  expect(name.length).toBeLessThanOrEqual(53)
})

test('a source is of one commit, from the host of the installation, and outlives its build by five minutes', () => {
  const token = new SecretString('t')
  const endpoints = { host: 'github.com', web: 'https://github.com', api: 'https://api.github.com' }
  const repository = { id: 7, fullName: 'acme/shop' }
  const access = { endpoints, token, repository }
  expect(desiredSource(facts(), { name: 'shop-1', commit }, access, { fullName: 'acme/renamed' })).toEqual({
    identity: { namespace: 'acme-build', build: 'shop-1', commit },
    owner: 'uid-1',
    lifetimeSeconds: 900,
    completeBelow: '',
    repositoryUrl: 'https://github.com/acme/renamed.git',
    web: 'https://github.com',
    commit,
    token,
  })
})

test('a commit whose files are not all in the repository is fetched only where the RemoteSync says so, as another build', () => {
  const access = { endpoints: { host: 'github.com', web: 'https://github.com', api: '' }, token: new SecretString('t') }
  const below = (remoteSync: ReturnType<typeof sync>) =>
    desiredSource(
      facts({ remoteSync }),
      { name: 'shop-1', commit },
      { ...access, repository: { id: 7, fullName: 'acme/shop' } },
      {
        fullName: 'acme/shop',
      },
    ).completeBelow
  const ofWorkspace = sync({ subPath: 'apps/web', build: { ...sync().spec.build, root: 'apps' } })
  expect(below(ofWorkspace)).toBe('apps')
  expect(below(sync({ subPath: 'web', build: { ...sync().spec.build, root: '.' } }))).toBe('')
  const allowing = sync({ build: { ...sync().spec.build, allowIncompleteSource: true } })
  expect(below(sync({ subPath: 'web' }))).toBe('web')
  expect(below(allowing)).toBeUndefined()
  expect(below(sync({ build: { ...sync().spec.build, allowIncompleteSource: false } }))).toBe('')
  expect(buildName(allowing, commit, 1)).not.toBe(buildName(sync(), commit, 1))
})

test('a build has the settings of the RemoteSync, and the last image for its layers', () => {
  const build = { name: 'shop-1', commit }
  expect(desiredBuild(facts(), build, 'http://source/x', { build: { ...build, attempt: 3 } })).toEqual({
    attempt: 3,
    strategy: 'Buildpacks',
    resources: {},
    secrets: [],
    key: { namespace: 'acme-build', name: 'shop-1' },
    owner: { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'uid-1' },
    application: 'shop',
    source: { url: 'http://source/x', commit },
    env: [{ name: 'BP_APPLICATION_PROCESSES', value: '{"processes":[]}' }],
    timeoutSeconds: 600,
  })
  const remoteSync = sync({ subPath: 'web', build: { ...sync().spec.build, env } })
  expect(desiredBuild(facts({ remoteSync }), build, 'http://source/x', { image: 'image@1' })).toMatchObject({
    source: { subPath: 'web' },
    env: [...env, told({ processes: [] })],
    previousImage: 'image@1',
  })
})

test.each([
  ['.', 'apps/api', undefined, 'apps/api'],
  ['apps', 'apps/api', 'apps', 'api'],
  ['a/./b', 'a/b/c/', 'a/b', 'c/'],
  ['.', '.', undefined, '.'],
])('build.root %s with subPath %s: %s is built, and the application is in %s', (root, subPath, built, folder) => {
  const remoteSync = sync({ subPath, build: { ...sync().spec.build, root } })
  const request = desiredBuild(facts({ remoteSync }), { name: 'shop-1', commit }, 'http://source/x', {})
  expect(request.source).toEqual({ url: 'http://source/x', commit, ...(built === undefined ? {} : { subPath: built }) })
  expect(request.env[0]).toEqual({ name: 'BP_APPLICATION_FOLDER', value: folder.replace(/\/$/, '') })
  expect(buildName(remoteSync, commit, 1)).not.toBe(buildName(sync({ subPath }), commit, 1))
})

test('a build is told which commands the Application names, and nobody else can tell it', () => {
  const program = { replicas: 1, cpu: '50m', memory: '64Mi' }
  const processes = [
    { ...program, name: 'web' },
    { ...program, name: 'worker', command: ['node', 'w.js'], args: ['--all'] },
    { ...program, name: 'long', command: ['node'], args: ['x'.repeat(4096)] },
  ]
  const releaseJob = { command: ['true'], timeoutSeconds: 60 }
  const forged = [told({ processes: [] }), ...env]
  const request = (strategy: 'Buildpacks' | 'Dockerfile') =>
    desiredBuild(
      facts({
        remoteSync: sync({ build: { ...sync().spec.build, strategy, env: forged } }),
        application: application({ processes, releaseJob }),
      }),
      { name: 'shop-1', commit },
      'http://source/x',
      {},
    ).env
  const named = [{ name: 'web' }, { name: 'worker', command: ['node', 'w.js', '--all'] }, { name: 'long', command: [] }]
  expect(request('Buildpacks')).toEqual([...env, told({ processes: named, releaseJob: true })])
  expect(request('Dockerfile')).toEqual(forged)
})

test('a build is told the commands of all Applications that run it, within the bound of a variable', () => {
  const program = { replicas: 1, cpu: '50m', memory: '64Mi' }
  const remoteSync = sync({ otherApplications: ['worker', 'gone', 'all'] })
  const of = (first: object, ...others: readonly (object | undefined)[]) =>
    desiredBuild(
      facts({
        remoteSync,
        application: application(first),
        others: others.map(spec => ({ name: 'other', application: spec && application(spec) })),
      }),
      { name: 'shop-1', commit },
      'http://source/x',
      {},
    ).env[0]
  const command = (text: string) => ({ processes: [{ ...program, name: 'w', command: ['node', text] }] })
  const releaseJob = { command: ['true'], timeoutSeconds: 60 }
  const [web, worker] = ['a.js', 'b.js'].map(text => ({ name: 'w', command: ['node', text] }))
  expect(of(command('a.js'), { ...command('b.js'), releaseJob }, undefined)).toEqual(
    told({ processes: [web, worker], releaseJob: true }),
  )
  // One that leaves its processes to the image needs some there.
  expect(of(command('a.js'), { processes: undefined })).toEqual(told({ processes: [web, { name: 'web' }] }))
  expect(of({ processes: undefined }, { processes: undefined })).toEqual(told({}))
  const many = {
    processes: Array.from({ length: 10 }, () => ({ ...program, name: 'n'.repeat(40), command: ['x'.repeat(2000)] })),
  }
  const { value = '' } = of(many, ...Array.from({ length: 9 }, () => many)) ?? {}
  expect(JSON.parse(value).processes).toHaveLength(100)
  expect(Buffer.byteLength(value)).toBeLessThan(131_072 - 64)
})

test('a builder and secrets are inputs of a build: its name changes, and stays short enough for the volume of its secrets', () => {
  const of = (build: object): string =>
    buildName(
      sync({ build: { ...sync().spec.build, ...build } }, { metadata: { ...sync().metadata, name: 'x'.repeat(60) } }),
      commit,
      1,
    )
  const names = [of({}), of({ builder: 'paketo' }), of({ secrets: ['npm'] })]
  expect(new Set(names).size).toBe(3)
  expect(`binding-build-secrets-${names[2]}`.length).toBeLessThanOrEqual(63)
  expect(of({ resources: { memory: '2Gi' } })).toBe(names[0])
})
