// What the controllers do for a tenant: RemoteSyncs and grants on repositories of others, and texts that reach git, a shell, a
// URL or YAML.
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { type ApiAttempt, apiAttempts, groupPath, mergePatch } from '../cluster/api-attempts.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { emptyApplication, remoteSync } from './manifests.ts'
import { objectAttempt, type Shown } from './object-attempts.ts'

const apps = 'apps.sekisho.dev/v1alpha1'
const github = 'github.sekisho.dev/v1alpha1'
const syncs = groupPath(apps, neighbourNamespace, 'remotesyncs')
const grants = groupPath(github, neighbourNamespace, 'repositorygrants')

type Spec = Readonly<Record<string, unknown>>

/** Another tenant's source must not be reached: it was fetched, or a build of it began. */
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
      /^(GrantDenied|InstallationNotReady|BranchNotFound|PullRequestNotFound|CommitNotFound|ApplicationTaken|ApplicationNotFound|ApprovalMissing|CommitNot\w+|InvalidName|NotATenant\w*)$/,
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

const malformedRepositories = [
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

const malformedBranches = [
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

const malformedPaths = ['..', '../x', 'a/../../x', '/etc', 'a/../../../etc/passwd', './..']

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
        malformedRepositories.map(repository =>
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
    peer: 'Coolify, January 2026, and Dokploy CVE-2026-27130: command injection by names and branches; Argo CD: paths out of the repository',
    attempts: world => [
      ...malformedBranches.map((branch, index) =>
        syncAttempt(world, `attack-branch-${index}`, `branch ${JSON.stringify(branch)}`, { source: { branch } }),
      ),
      ...apiAttempts(world, [
        ...malformedPaths.map(subPath =>
          dry(syncs, `subPath ${JSON.stringify(subPath)}`, remoteSync('attack-path', { subPath })),
        ),
        ...malformedPaths.map(root =>
          dry(syncs, `build.root ${JSON.stringify(root)}`, remoteSync('attack-path', { subPath: `${root}/x`, build: { root } })),
        ),
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
    name: 'deputies/requesters',
    as: 'gary, admin of globex',
    against: 'the access that other people have on GitHub',
    tries: 'Grants and RemoteSyncs in the name of another person, created so or changed so.',
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
