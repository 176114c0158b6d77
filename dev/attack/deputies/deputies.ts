// What the controllers do for a tenant: RemoteSyncs and grants on repositories of others, and texts that reach git, a shell, a URL or YAML.
import { setTimeout as pause } from 'node:timers/promises'
import { neighbourNamespace } from '../../demo/context.ts'
import { type Attack, type Attempt, stopped, succeeded, unclear } from '../attack.ts'
import { type ApiAttempt, apiAttempts, groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { judgeApi } from '../judge.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { objectAttempt, type Shown } from './object-attempts.ts'

const apps = 'apps.sekisho.dev/v1alpha1'
const github = 'github.sekisho.dev/v1alpha1'
const syncs = groupPath(apps, neighbourNamespace, 'remotesyncs')
const grants = groupPath(github, neighbourNamespace, 'repositorygrants')

type Spec = Readonly<Record<string, unknown>>

export function remoteSync(name: string, spec: Spec) {
  const common = {
    installation: 'github',
    repository: 'globex/site',
    source: { branch: 'main' },
    build: { timeoutSeconds: 120 },
    application: name,
  }
  return { apiVersion: apps, kind: 'RemoteSync', metadata: { name }, spec: { ...common, ...spec } }
}

export function emptyApplication(name: string, spec: Spec = {}) {
  return {
    apiVersion: apps,
    kind: 'Application',
    metadata: { name },
    spec: { processes: [{ name: 'web', port: 3000, memory: '64Mi' }], ...spec },
  }
}

/** The source is what nobody may get of another: it was fetched, or a build of it began. */
async function isFetched({ status }: Shown): Promise<string | undefined> {
  const fetched = status?.conditions?.find(({ type }) => type === 'Fetched')
  const { buildCreatedAt } = (status?.['phases'] ?? {}) as { buildCreatedAt?: string }
  if (fetched?.status !== 'True' && buildCreatedAt === undefined) return undefined
  return `the source of ${String(status?.['commit'])} was fetched: ${fetched?.reason ?? buildCreatedAt}`
}

/** A RemoteSync with an Application of its own; it must be refused before anything is built. */
export function syncAttempt(world: World, name: string, what: string, spec: Spec): Attempt {
  const attempt = objectAttempt(world, {
    name: what,
    path: syncs,
    object: remoteSync(name, spec),
    refusals:
      /^(GrantDenied|InstallationNotReady|BranchNotFound|PullRequestNotFound|CommitNotFound|ApplicationTaken|ApplicationNotFound|Fork\w*|\w*Refused|InvalidName|NotATenant\w*)$/,
    harm: isFetched,
    seconds: 30,
  })
  return {
    name: attempt.name,
    async run() {
      await world.journal.note({ kind: 'object', path: `${applicationsPath}/${name}` })
      await world.api('gary', 'POST', applicationsPath, { json: emptyApplication(name) })
      return attempt.run()
    },
  }
}

const dry = (path: string, what: string, json: unknown): ApiAttempt => ({
  as: 'gary',
  method: 'POST',
  path,
  json,
  name: what,
  dry: true,
})

const foreignRepositories = ['acme/shop', 'acme/secret-plans', 'ACME/Shop', 'acme/SECRET-plans']

const crookedRepositories = [
  'acme/shop.git/../secret-plans',
  'globex/../acme/shop',
  'globex/site/../../acme/shop',
  'acme%2fshop',
  'https://github.com/acme/shop',
  '-x/y',
  '--upload-pack=id/x',
  'acme/shop\nx',
  'acme/$(id)',
  '../shop',
  '/acme/shop',
  'acme/',
]

const crookedBranches = [
  '$(touch /tmp/x)',
  '`id`',
  '--upload-pack=id',
  '-x',
  'main;id',
  'main|id',
  '../../x',
  "main'--",
  'refs/../x',
  'a"b',
  '<script>',
  '$IFS$9id',
  '{{.}}',
  'x&&id',
  'HEAD@{1}',
  'main%00',
  '@',
]

const crookedPaths = ['..', '../x', 'a/../../x', '/etc', 'a/../../../etc/passwd', './..']

function denied(world: World, name: string, what: string, spec: Spec): Attempt {
  const common = {
    installation: 'github',
    repositories: ['globex/site'],
    permissions: { contents: 'read' },
    subjects: [{ kind: 'ServiceAccount', name: 'default' }],
    reason: 'attack',
  }
  return objectAttempt(world, {
    name: what,
    path: grants,
    object: { apiVersion: github, kind: 'RepositoryGrant', metadata: { name }, spec: { ...common, ...spec } },
    refusals: /./,
    harm: async ({ status }) =>
      status?.['decision'] === 'Approved' ? `approved for ${JSON.stringify(status['repositories'])}` : undefined,
    seconds: 30,
  })
}

const greedyGrants: readonly (readonly [string, Spec])[] = [
  ['acme’s repository', { repositories: ['acme/shop'] }],
  ['acme’s repository in capitals', { repositories: ['ACME/SHOP'] }],
  ['its own and acme’s repository', { repositories: ['globex/site', 'acme/secret-plans'] }],
  ['an Installation of acme', { installation: 'acme' }],
  ['rights of an administrator', { permissions: { administration: 'write' } }],
  ['members of the organization', { permissions: { members: 'write' } }],
  ['secrets of the repository', { permissions: { secrets: 'write', actions_variables: 'write' } }],
  ['a permission that nobody knows', { permissions: { everything: 'admin' } }],
  ['more than the App has', { permissions: { contents: 'admin' } }],
]

/** The same repository twice: decided once, for one repository, and then quiet. */
function twice(world: World): Attempt {
  const name = 'attack-twice'
  return {
    name: 'gary: a grant with the same repository in two spellings',
    async run() {
      const json = {
        apiVersion: github,
        kind: 'RepositoryGrant',
        metadata: { name },
        spec: {
          installation: 'github',
          repositories: ['globex/site', 'GLOBEX/site'],
          permissions: { contents: 'read' },
          subjects: [{ kind: 'ServiceAccount', name: 'default' }],
          reason: 'attack',
        },
      }
      await world.journal.note({ kind: 'object', path: `${grants}/${name}` })
      const answer = await world.api('gary', 'POST', grants, { json })
      if (answer.status >= 300) return judgeApi(answer)
      try {
        return await settled(world, `${grants}/${name}`)
      } finally {
        await world.admin.request('DELETE', `${grants}/${name}`)
      }
    },
  }
}

async function settled(world: World, path: string) {
  for (const deadline = Date.now() + 12_000; Date.now() < deadline; await pause(250)) {
    const { status } = (await world.admin.call('GET', path)) as Shown
    if (status?.['decision'] === undefined) continue
    const { length } = (status['repositories'] ?? []) as readonly unknown[]
    return length <= 1
      ? stopped('controller', `${status['decision']}, for ${length} repository`)
      : unclear(JSON.stringify(status['repositories']))
  }
  return succeeded('no decision after 12 s: the controller tries, asks GitHub and fails again and again')
}

export const deputyAttacks: readonly Attack[] = [
  {
    name: 'deputies/repositories',
    as: 'gary, admin of globex',
    against: 'the private repositories of acme',
    tries: 'A RemoteSync builds a repository of another account, in several spellings, or with another Installation.',
    expected: ['controller', 'schema'],
    peer: 'Argo CD project scope; kpack credentials by host',
    attempts: world => [
      ...foreignRepositories.map((repository, index) =>
        syncAttempt(world, `attack-sync-${index}`, `RemoteSync of ${repository}`, { repository }),
      ),
      syncAttempt(world, 'attack-sync-installation', 'RemoteSync with an Installation that is not there', {
        installation: 'acme',
      }),
      syncAttempt(world, 'attack-sync-commit', 'RemoteSync of acme’s commit in its own repository', {
        source: { commit: world.targets.victim.commit },
      }),
      syncAttempt(world, 'attack-sync-taken', 'RemoteSync to the Application of another RemoteSync', { application: 'site' }),
      ...apiAttempts(
        world,
        crookedRepositories.map(repository =>
          dry(syncs, `RemoteSync of ${JSON.stringify(repository)}`, remoteSync('attack-sync', { repository })),
        ),
      ),
      ...apiAttempts(
        world,
        ['acme/github', '../acme/github', 'github.acme/..'].map(installation =>
          dry(syncs, `RemoteSync with the Installation ${installation}`, remoteSync('attack-sync', { installation })),
        ),
      ),
    ],
  },
  {
    name: 'deputies/texts',
    as: 'gary, admin of globex',
    against: 'git, shells, URLs and manifests of the controllers',
    tries: 'Branches, paths, environment and fields with options, shell text, quotes, markup and line breaks.',
    expected: ['controller', 'schema', 'quota', 'admission'],
    peer: 'Coolify, January 2026, and Dokploy CVE-2026-27130: command injection by names and branches',
    attempts: world => [
      ...crookedBranches.map((branch, index) =>
        syncAttempt(world, `attack-branch-${index}`, `branch ${JSON.stringify(branch)}`, { source: { branch } }),
      ),
      ...apiAttempts(world, [
        ...crookedPaths.map(subPath => dry(syncs, `subPath ${JSON.stringify(subPath)}`, remoteSync('attack-path', { subPath }))),
        ...['A=B', '1A', 'A B', 'A\nB', ''].map(name =>
          dry(
            applicationsPath,
            `environment variable ${JSON.stringify(name)}`,
            emptyApplication('attack-env', { env: [{ name, value: 'x' }] }),
          ),
        ),
        ...['A=B', 'A\nB'].map(name =>
          dry(
            syncs,
            `build variable ${JSON.stringify(name)}`,
            remoteSync('attack-env', { build: { env: [{ name, value: 'x' }] } }),
          ),
        ),
        ...['../web', 'web;id', '-web', 'WEB'].map(chart =>
          dry(applicationsPath, `chart ${chart}`, emptyApplication('attack-chart', { chart })),
        ),
        ...['/x\r\nHost: y', 'x', '/a b'].map(healthPath =>
          dry(
            applicationsPath,
            `health path ${JSON.stringify(healthPath)}`,
            emptyApplication('attack-health', { processes: [{ name: 'web', port: 3000, healthPath }] }),
          ),
        ),
        ...['a b', 'a@sha256:x', 'a@b@c'].map(image =>
          dry(applicationsPath, `image ${JSON.stringify(image)}`, emptyApplication('attack-image', { image })),
        ),
        ...['Web', '-web', 'web;id', 'a'.repeat(64)].map(name =>
          dry(
            applicationsPath,
            `process ${name.slice(0, 20)}`,
            emptyApplication('attack-process', { processes: [{ name, port: 3000 }] }),
          ),
        ),
        ...['-attack', 'attack_x', 'attack/../x', 'Attack', `attack${'x'.repeat(300)}`].map(name =>
          dry(applicationsPath, `Application named ${name.slice(0, 20)}`, emptyApplication(name)),
        ),
      ]),
      objectAttempt(world, {
        name: 'Application with a name of 253 characters',
        path: applicationsPath,
        object: emptyApplication(`attack-${'x'.repeat(246)}`),
        refusals: /^InvalidName$/,
      }),
      ...['-x', '$(id)', '<b>'].map((image, index) =>
        objectAttempt(world, {
          name: `image ${image}`,
          path: applicationsPath,
          object: emptyApplication(`attack-image-text-${index}`, { image }),
          refusals: /^(Image\w*|RefusedByCluster)$/,
        }),
      ),
      objectAttempt(world, {
        name: 'Application with dots in its name',
        path: applicationsPath,
        object: emptyApplication('attack.shop.acme'),
        refusals: /^InvalidName$/,
      }),
      objectAttempt(world, {
        name: 'Application of a chart that is not there',
        path: applicationsPath,
        object: emptyApplication('attack-no-chart', { chart: 'evil', image: 'x' }),
        refusals: /^ChartNotFound$/,
      }),
    ],
  },
  {
    name: 'deputies/grants',
    as: 'gary, admin of globex',
    against: 'tokens for repositories of acme, and beyond what globex gave',
    tries: 'Grants on repositories, installations and permissions that are not the requester’s, and one repository twice.',
    expected: ['controller', 'schema', 'admission'],
    attempts: world => [
      ...greedyGrants.map(([what, spec], index) => denied(world, `attack-grant-${index}`, `a grant for ${what}`, spec)),
      twice(world),
    ],
  },
  {
    name: 'deputies/requesters',
    as: 'gary, admin of globex',
    against: 'the access that other people have on GitHub',
    tries: 'Grants and RemoteSyncs in the name of somebody else, made so or changed so.',
    expected: ['admission', 'schema'],
    attempts: world =>
      apiAttempts(
        world,
        ['github|github.localhost|1001', 'github|github.localhost|1002', 'system:admin', 'github|github.localhost|1004 '].flatMap(
          requestedBy => [
            dry(syncs, `RemoteSync requested by ${requestedBy}`, remoteSync('attack-requester', { requestedBy })),
            dry(grants, `grant requested by ${requestedBy}`, {
              apiVersion: github,
              kind: 'RepositoryGrant',
              metadata: { name: 'attack-requester' },
              spec: {
                installation: 'github',
                repositories: ['globex/site'],
                permissions: { contents: 'read' },
                subjects: [{ kind: 'ServiceAccount', name: 'default' }],
                reason: 'attack',
                requestedBy,
              },
            }),
            {
              as: 'gary',
              method: 'PATCH',
              path: `${syncs}/site`,
              json: { spec: { requestedBy } },
              contentType: mergePatch,
              name: `RemoteSync changed to ${requestedBy}`,
              dry: true,
            } satisfies ApiAttempt,
          ],
        ),
      ),
  },
]
