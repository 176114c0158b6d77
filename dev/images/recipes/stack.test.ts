// The plans of the two images of the stack: what programs take for granted is in both, compilers and apt are in one.
import { expect, test } from 'vitest'
import type { LayerPlan } from '../blobs/build-layer.ts'
import type { PackageSource } from '../debian/package-source.ts'
import type { ImagePlan } from '../image/image-plan.ts'
import { compilers, installedFile } from './build-tools.ts'
import type { RecipeDeps } from './recipe.ts'
import { runEnvironmentLayer, runPackages } from './run-environment.ts'
import { buildImage, runImage } from './stack.ts'

/** Every package is one file with its name; no package depends on another. */
const packages: PackageSource = {
  resolve: async (roots, pruned) =>
    roots
      .filter(name => !pruned.includes(name))
      .map(name => ({ name, fileName: `${name}_1%3a2_amd64.deb`, sha256: `sha256 of ${name}` })),
  entriesOf: async () => [],
  sources: async () => 'deb http://deb.debian.org/debian bookworm main\n',
}
const deps = {
  repositoryFolder: '/',
  cacheFolder: '/',
  packages,
  node: { nodeVersion: '24', npmVersion: '11' },
} as unknown as RecipeDeps

const textsOf = ({ key }: LayerPlan): string => key.join(' ')
const allTexts = ({ layers }: ImagePlan): string => layers.map(textsOf).join(' ')

async function file(layer: LayerPlan, path: string): Promise<string | undefined> {
  const entry = (await layer.entries()).find(one => one.path === path)
  if (entry?.kind === 'link') return `→ ${entry.target}`
  return entry?.kind === 'file' && entry.source.kind === 'bytes' ? Buffer.from(entry.source.bytes).toString() : undefined
}

test('the run image has bash, time zones, a UTF-8 locale and certificates, and neither compilers nor apt', async () => {
  const plan = await runImage(deps)
  for (const name of ['bash', 'tzdata', 'libc-bin', 'netbase', 'libpq5']) expect(allTexts(plan)).toContain(`sha256 of ${name}`)
  expect(plan.layers.map(({ name }) => name)).toContain('certificates')
  for (const name of [...compilers, 'apt', 'python3-pip']) expect(allTexts(plan)).not.toContain(`sha256 of ${name}`)
  expect(plan.config([]).environment).toMatchObject({
    LANG: 'C.UTF-8',
    HOME: '/tmp',
    SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
  })
})

test('the build image has all that the run image has, compilers with headers, pip and apt', async () => {
  const plan = await buildImage(deps)
  for (const name of [...runPackages, ...compilers.filter(one => one !== 'perl-base'), 'apt', 'dpkg', 'python3-pip'])
    expect(allTexts(plan)).toContain(`sha256 of ${name}`)
  const apt = plan.layers.find(({ name }) => name === 'apt')
  expect(apt && (await file(apt, installedFile))).toContain(
    'Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:2\n',
  )
  expect(apt && (await file(apt, 'etc/apt/sources.list'))).toContain('bookworm main')
})

test('/tmp can be written, and every user that a pod may have has a name, a home there, and UTC', async () => {
  const layer = await runEnvironmentLayer(deps)
  const users = (await file(layer, 'etc/passwd')) ?? ''
  expect(users).toContain('\ncnb:x:1001:1001:')
  // The user of buildpack images in the range of the second tenant.
  expect(users).toContain(`\napp1073807360:x:${1_073_807_360 + 1001}:1001:app:/tmp:/bin/bash\n`)
  expect(await file(layer, 'etc/localtime')).toBe('→ /usr/share/zoneinfo/Etc/UTC')
  expect(await file(layer, 'usr/lib/ssl/cert.pem')).toBe('→ /etc/ssl/certs/ca-certificates.crt')
  const base = (await runImage(deps)).layers.find(({ name }) => name === 'certificates')
  expect((await base?.entries())?.find(({ path }) => path === 'tmp')?.mode).toBe(0o1777)
})
