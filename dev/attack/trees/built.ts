// Trees that git may check out, and that a build must take as they are: links out of the tree, attributes with drivers, a
// submodule of acme. Built once with a Dockerfile, whose steps follow the links, and once with buildpacks; a pod of globex
// prints what is in the images.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import { DemoFailure } from '../../demo/steps.ts'
import { type Attack, type Attempt, endingWith } from '../attack.ts'
import { corePath, groupPath } from '../cluster/api-attempts.ts'
import { podSpec } from '../cluster/mounts.ts'
import { emptyApplication, remoteSync } from '../deputies/manifests.ts'
import { type Content, pushBranch } from '../deputies/own-branch.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { type FoundPaths, judgeEmpty, judgeFollowed, judgeLinks, judgeUnchanged } from './judge-tree.ts'

const syncs = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'remotesyncs')
const branch = 'attack-links'
const inside = 'a file of the commit'

/**
 * Where the containers of a build, the source store and kpack have what is worth reading; the commit has a file of its own at
 * each path.
 */
const targets = {
  passwd: '/etc/passwd',
  token: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  registry: '/run/secrets/registry/config.json',
  phases: '/var/build-secrets/docker/config.json',
  environment: '/proc/self/environ',
  up: '../../../../../../../../etc/passwd',
} as const

const links = Object.entries(targets).map(([name, target]) => [`links/${name}`, target] as const)
const folderLink = ['links/folder', '/run/secrets/registry'] as const
/** Folders that the containers of a build have, as the folder of the application. */
const stolenFolders = { credentials: '/run/secrets', builder: '/var/build-secrets' } as const

const names = {
  dockerfile: 'attack-links-dockerfile',
  buildpacks: 'attack-links-buildpacks',
  credentials: 'attack-out-credentials',
  builder: 'attack-out-builder',
} as const

/** What a driver, or a reader of attributes, would change. */
const attributed = {
  'subst.txt': '$Format:%H %an$',
  'smudged.txt': 'as it was pushed',
  'linked/smudged.txt': '$Format:%H$',
} as const

function files(world: World): Readonly<Record<string, Content>> {
  const decoys = [...new Set(Object.values(targets))].filter(path => path.startsWith('/')).map(path => [path.slice(1), inside])
  const copies = [...links, folderLink].map(([path]) => `COPY ${path} /followed/${path.split('/')[1]}`)
  const dockerfile = [
    `FROM ${world.demo.baseImage}`,
    'COPY . /workspace',
    ...copies,
    'WORKDIR /workspace',
    'USER 1001',
    'CMD ["node", "server.js"]',
  ]
  return {
    ...Object.fromEntries(decoys),
    ...Object.fromEntries([...links, folderLink].map(([path, link]) => [path, { link }])),
    ...Object.fromEntries(Object.entries(stolenFolders).map(([name, link]) => [`stolen-${name}`, { link }])),
    ...attributed,
    '.gitattributes': 'subst.txt export-subst\nsmudged.txt filter=attack diff=attack merge=attack\nlinks/* export-ignore\n',
    'linked/.gitattributes': { link: '../attributes' },
    attributes: '* export-subst filter=attack\n',
    '.gitmodules': '[submodule "plans"]\n\tpath = plans\n\turl = ../../acme/secret-plans\n',
    plans: { submodule: world.targets.victim.commit },
    Dockerfile: dockerfile.join('\n'),
    'server.js': "require('node:http').createServer((_, answer) => answer.end('x')).listen(process.env.PORT)",
    'package.json': JSON.stringify({ name: 'attack', version: '1.0.0', private: true, scripts: { start: 'node server.js' } }),
  }
}

type Built = { readonly image?: string; readonly failure?: { readonly reason: string; readonly message: string } }

async function begin(world: World, name: string, spec: { readonly build: object; readonly subPath?: string }): Promise<void> {
  await world.journal.note({ kind: 'object', path: `${applicationsPath}/${name}` })
  await world.journal.note({ kind: 'object', path: `${syncs}/${name}` })
  const complete = { ...spec, build: { timeoutSeconds: 120, allowIncompleteSource: true, ...spec.build } }
  const made = [
    await world.api('gary', 'POST', applicationsPath, { json: emptyApplication(name) }),
    await world.api('gary', 'POST', syncs, { json: remoteSync(name, { source: { branch }, ...complete }) }),
  ]
  // When the attack is repeated, they are there.
  const refused = made.find(({ status }) => status !== 201 && status !== 409)
  if (refused !== undefined) throw new Error(`gary cannot build his own repository: ${refused.status} ${refused.text}`)
}

async function built(world: World, name: string): Promise<Built> {
  return ((await world.admin.call('GET', `${syncs}/${name}`)) as { readonly status?: Built }).status ?? {}
}

/** Resolves to the image of the branch. */
async function build(world: World, name: string, strategy: string): Promise<string> {
  await begin(world, name, { build: { strategy } })
  return waitUntil(
    `the build of ${name} to end`,
    async () => {
      const { image, failure } = await built(world, name)
      if (failure !== undefined) throw new DemoFailure(`the build failed: ${failure.reason}: ${failure.message}`)
      return image
    },
    { timeoutMilliseconds: limits.build },
  )
}

/** Prints each path of the arguments without following it. */
const printer = `
const fs = require('fs')
const look = path => {
  try {
    const is = fs.lstatSync(path)
    if (is.isSymbolicLink()) return { link: fs.readlinkSync(path) }
    return is.isDirectory() ? { names: fs.readdirSync(path) } : { text: fs.readFileSync(path, 'utf8').slice(0, 300) }
  } catch (error) {
    return {}
  }
}
process.stdout.write(JSON.stringify(Object.fromEntries(process.argv.slice(1).map(path => [path, look(path)]))))`

async function look(world: World, name: string, image: string, paths: readonly string[]): Promise<FoundPaths> {
  const pods = corePath(neighbourNamespace, 'pods')
  const path = `${pods}/${name}`
  await world.journal.note({ kind: 'object', path })
  const spec = podSpec(image, {}, { command: ['/usr/local/bin/node', '-e', printer], args: paths })
  const answer = await world.api('gary', 'POST', pods, { json: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec } })
  if (answer.status !== 201 && answer.status !== 409)
    throw new Error(`gary cannot run the image: ${answer.status} ${answer.text}`)
  await waitUntil(
    'the pod to print what is in the image',
    async () => {
      const { status } = (await world.admin.call('GET', path)) as { status?: { phase?: string } }
      return status?.phase === 'Succeeded'
    },
    { timeoutMilliseconds: limits.rollout },
  )
  return JSON.parse((await world.api('gary', 'GET', `${path}/log`)).text)
}

const inWorkspace = (path: string): string => `/workspace/${path}`
const linkPaths = new Map([...links, folderLink].map(([path, target]) => [inWorkspace(path), target]))
const filePaths = new Map(Object.entries(attributed).map(([path, content]) => [inWorkspace(path), content]))
const followed = [...Object.keys(targets).map(name => `/followed/${name}`), '/followed/folder/config.json']

/** Both forms are judged by the same paths; only a Dockerfile has steps that follow links. */
function judged(form: string, found: Promise<FoundPaths>): readonly Attempt[] {
  const one = (what: string, judge: (paths: FoundPaths) => Verdict): Attempt => ({
    name: `${form}: ${what}`,
    run: async () => judge(await found),
  })
  return [
    one('links out of the tree', paths => judgeLinks(paths, linkPaths)),
    one('attributes with drivers and formats', paths => judgeUnchanged(paths, filePaths)),
    one('a submodule of acme’s private repository', paths => judgeEmpty(paths, inWorkspace('plans'))),
  ]
}

type BuildPods = {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status: {
      readonly initContainerStatuses?: readonly {
        readonly state: { readonly waiting?: { readonly reason: string; readonly message?: string } }
      }[]
    }
  }[]
}

/** Why the kubelet does not start a container of the build; undefined while it starts them. */
async function notStarted({ admin }: World, name: string): Promise<string | undefined> {
  const { items } = (await admin.call('GET', corePath(`${neighbourNamespace}-build`, 'pods'))) as BuildPods
  const pod = items.find(({ metadata }) => metadata.name.startsWith(name))
  const waiting = pod?.status.initContainerStatuses?.map(({ state }) => state.waiting)
  const found = waiting?.find(state => state?.reason === 'CreateContainerConfigError')
  return found && `${found.reason}: ${found.message}`
}

/** A build whose folder is a link out of the tree must not come to an image. */
function stolen(world: World, strategy: string, [what, target]: readonly [keyof typeof stolenFolders, string]): Attempt {
  return {
    name: `${strategy}: the folder of the application is a link to ${target}`,
    async run() {
      const name = names[what]
      await begin(world, name, { build: { strategy, timeoutSeconds: 60 }, subPath: `stolen-${what}` })
      return waitUntil(
        `the build of ${name} to end`,
        async () => {
          const [{ image, failure }, refused] = [await built(world, name), await notStarted(world, name)]
          if (image !== undefined) return succeeded(`built ${image}`)
          if (refused !== undefined) return stopped('kubelet', refused)
          if (failure === undefined) return undefined
          const text = `${failure.reason}: ${failure.message}`
          return failure.reason === 'BuildFailed' ? stopped('controller', text) : unclear(text)
        },
        { timeoutMilliseconds: limits.build },
      )
    },
  }
}

async function attempts(world: World): Promise<readonly Attempt[]> {
  await world.ownImage()
  await pushBranch(world, branch, files(world))
  const paths = [...linkPaths.keys(), ...filePaths.keys(), inWorkspace('plans'), ...followed]
  const found = async (name: string, strategy: string): Promise<FoundPaths> =>
    look(world, name, await build(world, name, strategy), paths)
  const [dockerfile, buildpacks] = [found(names.dockerfile, 'Dockerfile'), found(names.buildpacks, 'Buildpacks')]
  for (const promise of [dockerfile, buildpacks]) promise.catch(() => {}) // each attempt sees the failure
  const all = [
    ...judged('Dockerfile', dockerfile),
    ...followed.map(path => ({
      name: `Dockerfile: COPY of the link ${path.replace('/followed/', '')}`,
      run: async () => judgeFollowed(await dockerfile, path, inside),
    })),
    ...judged('Buildpacks', buildpacks),
    stolen(world, 'Dockerfile', ['credentials', stolenFolders.credentials]),
    stolen(world, 'Buildpacks', ['builder', stolenFolders.builder]),
  ]
  // They count in the quota of the tenant, and their pods run.
  return endingWith(all, async () => {
    for (const path of [syncs, applicationsPath])
      for (const name of Object.values(names)) await world.admin.request('DELETE', `${path}/${name}`)
  })
}

export const builtTreeAttacks: readonly Attack[] = [
  {
    name: 'trees/built',
    as: 'gary, whose commit has links out of it, attributes, and a submodule of acme',
    against: 'files and credentials of the containers that build it, and a private repository of acme',
    tries:
      'Builds it with a Dockerfile that copies the links, with buildpacks, and with a link as the folder of the application.',
    expected: ['absent', 'controller', 'kubelet'],
    peer: 'BuildKit CVE-2024-23652 and CVE-2024-23653; Argo CD CVE-2022-24348: links out of the repository',
    form: 'long',
    attempts,
  },
]
