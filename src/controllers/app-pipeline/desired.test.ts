// What is made for one pull request.
import { describe, expect, test } from 'vitest'
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { Application } from '../../api/apps/application.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { desiredHashAnnotation, isAsDesired } from '../kit/owned-application/manifest.ts'
import { desiredApplication, desiredRemoteSync, desiredServices, type PreviewFacts } from './desired.ts'
import { pipeline, preview, pull, repository } from './testing/app-pipeline.ts'

function facts(changes: Partial<PreviewFacts> = {}, spec: Partial<AppPipeline['spec']> = {}): PreviewFacts {
  return {
    pipeline: pipeline(spec),
    repository,
    pull: pull(12),
    paused: false,
    ingress: { publicUrl: new URL('https://apps.example.com') },
    application: undefined,
    remoteSync: undefined,
    ...changes,
  }
}

describe('the Application', () => {
  test('belongs to its AppPipeline, repository and pull request, and has a host of its own', () => {
    const { metadata, spec } = desiredApplication(facts())
    expect(metadata).toMatchObject({
      name: 'shop-pr-12',
      namespace: 'acme',
      labels: { 'sekisho.dev/app-pipeline': 'shop', 'sekisho.dev/repository': '7', 'sekisho.dev/pull-request': '12' },
      ownerReferences: [{ kind: 'AppPipeline', uid: 'uid-pipeline', controller: true }],
    })
    expect(spec).toEqual({ chart: 'web', domains: ['pr-12-shop.acme.apps.example.com'] })
  })

  test('is what former versions applied, so that an upgrade writes no preview anew', () => {
    const metadata = { labels: { team: 'a' }, annotations: { note: 'b' } }
    const template = { ...pipeline().spec.template, metadata }
    const of = facts({ pull: pull(3), ingress: { publicUrl: new URL('https://apps.test'), tlsPort: 443 } }, { template })
    const hashes = [desiredApplication(of), desiredRemoteSync(of)].map(({ metadata: { annotations } }) => annotations)
    expect(hashes).toEqual([
      { note: 'b', 'sekisho.dev/preview-hash': '7996d3edaba3d332be5f52bd885cbd34' },
      { 'sekisho.dev/preview-hash': 'b4fabbc074b55a13d7e1a367be9c6ac4' },
    ])
  })

  test('has facts of its pull request, which win over the template, as they are', () => {
    const application = {
      chart: 'web',
      env: [
        { name: 'BRANCH', value: 'x' },
        { name: 'MODE', value: '$(HOME)' },
      ],
    }
    const { template } = pipeline().spec
    const env = [
      { name: 'BRANCH', fact: 'HeadBranch' as const },
      { name: 'URL', fact: 'Url' as const },
    ]
    const of = facts(
      { pull: pull(12, { headBranch: '$(DATABASE_PASSWORD)$$' }) },
      { env, template: { ...template, application } },
    )
    expect(desiredApplication(of).spec['env']).toEqual([
      { name: 'MODE', value: '$(HOME)' },
      { name: 'BRANCH', value: '$(DATABASE_PASSWORD)$$' },
      { name: 'URL', value: 'https://pr-12-shop.acme.apps.example.com' },
    ])
  })

  test('has the hook in place of the release job until a release has been rolled out', () => {
    const { template } = pipeline().spec
    const [created, releaseJob] = [
      { command: ['seed'], timeoutSeconds: 60 },
      { command: ['migrate'], timeoutSeconds: 60 },
    ]
    const spec = { hooks: { created }, template: { ...template, application: { chart: 'web', releaseJob } } }
    const ran = (status: Application['status']) => ({ application: { ...preview(12).application, status } as Application })
    expect(desiredApplication(facts({}, spec)).spec['releaseJob']).toEqual(created)
    expect(desiredApplication(facts(ran({ latestRelease: 1 }), spec)).spec['releaseJob']).toEqual(created)
    expect(desiredApplication(facts(ran({ release: 1 }), spec)).spec['releaseJob']).toEqual(releaseJob)
  })

  test('of a paused preview is suspended, and so is its RemoteSync', () => {
    for (const make of [desiredApplication, desiredRemoteSync]) {
      expect(make(facts({ paused: true })).spec['suspend']).toBe(true)
      expect(make(facts()).spec).not.toHaveProperty('suspend')
    }
  })
})

test('the volumes of a preview go with it: the next one of the name may be of a fork, or of a repository of the same name', () => {
  const volume = { name: 'data', size: '1Gi', path: '/data', accessMode: 'ReadWriteOnce', whenDeleted: 'Keep' } as const
  const template = pipeline().spec.template
  const application = { ...template.application, volumes: [volume, { ...volume, name: 'cache', whenDeleted: 'Delete' as const }] }
  const { spec } = desiredApplication(facts({}, { template: { ...template, application } }))
  expect(spec['volumes']).toMatchObject([
    { name: 'data', size: '1Gi', whenDeleted: 'Delete' },
    { name: 'cache', whenDeleted: 'Delete' },
  ])
})

test('a bucket of its own goes with all objects in it, and is as the template says', () => {
  const { template } = pipeline().spec
  const use = { name: 'pictures', bucket: 'shared', access: 'WriteOnly' as const, prefix: 'in/' }
  const cors = [{ origins: ['*'], methods: ['PUT' as const] }]
  const lifecycle = [{ prefix: 'in/', expireAfterDays: 7 }]
  const services = [{ name: 'pictures', class: 'bucket', parameters: { bucket: { cors, versioning: true, lifecycle } } }]
  const given = facts({}, { template: { ...template, application: { ...template.application, services: [use] }, services } })
  const [own, ...others] = desiredServices(given)
  expect([own?.kind, own?.manifest.kind, others]).toEqual(['Bucket', 'Bucket', []])
  const spec = { class: 'bucket', cors, versioning: true, lifecycle, emptyWhenDeleted: true, whenDeleted: 'Delete' }
  expect(own?.manifest.spec).toEqual(spec)
  expect(desiredApplication(given).spec['services']).toEqual([{ ...use, bucket: own?.manifest.metadata.name }])
})

test('a service of its own is the preview’s: its Application names it, and its data go with it', () => {
  const { template } = pipeline().spec
  const application = { ...template.application, services: [{ name: 'db', instance: 'shared', access: 'ReadWrite' as const }] }
  const parameters = { postgresql: { extensions: ['pgcrypto' as const] } }
  const services = [{ name: 'db', class: 'postgresql', plan: 'small', parameters }]
  const given = facts({}, { template: { ...template, application, services } })
  const [instance, ...others] = desiredServices(given).map(({ manifest }) => manifest)
  expect(others).toEqual([])
  const { name: _name, annotations: _hash, ...place } = desiredApplication(given).metadata
  expect(instance?.metadata).toMatchObject(place)
  expect(instance?.spec).toEqual({ class: 'postgresql', plan: 'small', parameters, whenDeleted: 'Delete' })
  expect(desiredApplication(given).spec['services']).toEqual([
    { name: 'db', instance: instance?.metadata.name, access: 'ReadWrite' },
  ])
  // Of a fork, which may not have it, nothing.
  const theirs = { ...given, pull: pull(12, { headRepository: 9 }) }
  expect([desiredServices(theirs), desiredApplication(theirs).spec['services']]).toEqual([[], []])
})

describe('the RemoteSync', () => {
  test('follows the pull request in the name of the person of the AppPipeline', () => {
    expect(desiredRemoteSync(facts()).spec).toEqual({
      installation: 'github',
      repository: 'acme/shop',
      requestedBy: 'github|github.com|1',
      source: { pullRequest: 12 },
      build: { strategy: 'Buildpacks', timeoutSeconds: 900 },
      application: 'shop-pr-12',
    })
    const merge = { template: { ...pipeline().spec.template, source: 'Merge' as const } }
    expect(desiredRemoteSync(facts({}, merge)).spec['source']).toEqual({ pullRequest: 12, mergeCommit: true })
  })

  test('is made with the present name of the repository, and keeps the name that it has while that means the repository', () => {
    const renamed = pipeline({}, { repository: { id: repository, name: 'acme-inc/shop', requested: 'acme/shop' } })
    expect(desiredRemoteSync(facts({ pipeline: renamed })).spec['repository']).toBe('acme-inc/shop')
    const following = (id: number): { remoteSync: RemoteSync } => ({
      remoteSync: {
        ...preview(12).remoteSync,
        status: { repository: { id, name: 'x/y', requested: 'acme/shop' } },
      } as RemoteSync,
    })
    expect(desiredRemoteSync(facts({ pipeline: renamed, ...following(repository) })).spec['repository']).toBe('acme/shop')
    expect(desiredRemoteSync(facts({ pipeline: renamed, ...following(8) })).spec['repository']).toBe('acme-inc/shop')
  })
})

test('everything of the template is used: labels and annotations, the folder, the paths and the settings of the build', () => {
  const template = {
    ...pipeline().spec.template,
    metadata: { labels: { team: 'a' }, annotations: { 'example.com/cost': 'b' } },
    subPath: 'services/api',
    paths: ['services/api'],
    build: { strategy: 'Dockerfile', timeoutSeconds: 60, env: [{ name: 'A', value: 'b' }] } as const,
  }
  const given = facts({}, { template: { ...template, build: { ...template.build, env: [...template.build.env] } } })
  expect(desiredApplication(given).metadata).toMatchObject({ labels: { team: 'a' }, annotations: { 'example.com/cost': 'b' } })
  const { subPath, paths, build } = template
  expect(desiredRemoteSync(given).spec).toMatchObject({ subPath, paths, build })
})

test('an object is applied again when the template lost a field, or somebody changed one, and not otherwise', () => {
  const desired = desiredApplication(facts())
  const live = { ...desired, spec: { ...desired.spec, image: 'by its RemoteSync' } }
  expect(isAsDesired(live, desired)).toBe(true)
  expect(isAsDesired({ ...live, spec: { ...live.spec, domains: ['other'] } }, desired)).toBe(false)
  const annotations = { [desiredHashAnnotation]: 'of another template' }
  expect(isAsDesired({ ...live, metadata: { ...live.metadata, annotations } }, desired)).toBe(false)
})
