// The files of tests that prove one part of the product each, and are left out when nothing of it changed.
import { basename } from 'node:path'
import { apiServer, applications, builds, packages, podsOfTenants, previews, runtime } from './areas.ts'

type Part = 'applications' | 'builds-and-volumes' | 'integration-files'

/**
 * By the part of `make test-long` that plays them; each case is named as its file. `longSeconds` is what it took beside
 * others.
 */
const files: Readonly<
  Record<Part, Readonly<Record<string, { readonly longSeconds: number; readonly proves: readonly string[] }>>>
> = {
  applications: {
    'test/e2e/releases.test.ts': {
      longSeconds: 95,
      proves: [...applications, 'src/controllers/app-secret/**', 'src/identity/sealed-values/**'],
    },
    'test/e2e/branch-life.test.ts': {
      longSeconds: 80,
      proves: [...applications, ...builds, 'src/{process,github,services/token-desk}/**', 'src/controllers/repository-grant/**'],
    },
    'test/e2e/busy-cluster.test.ts': { longSeconds: 40, proves: [...applications] },
    'test/e2e/browser.test.ts': {
      longSeconds: 60,
      proves: [
        ...packages,
        ...runtime,
        'src/{broker,web,api,identity,github}/**',
        'src/controllers/{installation,tenant}/**',
        'dev/{demo,github}/**',
      ],
    },
    'test/e2e/network.test.ts': {
      longSeconds: 35,
      proves: [...podsOfTenants, 'src/services/{network-probe,node-check}/**', 'src/api/**', 'deploy/**', 'dev/up/**'],
    },
  },
  'builds-and-volumes': {
    'test/e2e/dockerfile.test.ts': { longSeconds: 80, proves: [...builds, 'dev/buildkit/**'] },
    'test/e2e/buildpacks.test.ts': { longSeconds: 50, proves: [...builds] },
    'test/e2e/repositories.test.ts': {
      longSeconds: 300,
      proves: [...builds, 'src/services/charts/**', 'src/api/pods/**', 'test/e2e/repositories/**'],
    },
    'test/e2e/rebase.test.ts': {
      longSeconds: 50,
      proves: [...builds],
    },
    'test/e2e/build-secrets.test.ts': {
      longSeconds: 30,
      proves: [...builds, 'src/controllers/app-secret/**', 'src/identity/sealed-values/**'],
    },
    'test/e2e/image-users.test.ts': { longSeconds: 50, proves: [...builds, ...podsOfTenants] },
    'test/e2e/private-image.test.ts': {
      longSeconds: 30,
      proves: [...podsOfTenants, 'src/{api/rights,services/registry}/**'],
    },
    'test/e2e/runtime-classes.test.ts': {
      longSeconds: 50,
      proves: [...builds, ...podsOfTenants],
    },
    'test/e2e/schedules-and-volumes.test.ts': {
      longSeconds: 100,
      proves: [...podsOfTenants],
    },
  },
  'integration-files': {
    'test/integration/service-proxy.test.ts': {
      longSeconds: 60,
      proves: [...runtime, 'src/controllers/service-proxy/**', 'src/lib/limits/**', 'src/admission/**'],
    },
    'test/attack/rolling-restart.test.ts': {
      longSeconds: 60,
      proves: [...apiServer, 'src/{admission,process,web}/**', 'deploy/{base,production}/**'],
    },
    'test/integration/installations-at-rest.test.ts': {
      longSeconds: 40,
      proves: [...runtime, 'src/controllers/installation/**', 'src/{github,services/token-desk}/**', 'dev/github/**'],
    },
    'test/integration/preview-approval-requests.test.ts': {
      longSeconds: 50,
      proves: [...previews, ...runtime, 'src/broker/{previews,webhooks}/**', 'src/github/**', 'dev/github/**'],
    },
    'test/integration/preview-trusted.test.ts': {
      longSeconds: 80,
      proves: [...previews, ...runtime, 'src/broker/{previews,webhooks}/**', 'src/{github,services/builds}/**', 'dev/github/**'],
    },
    'test/integration/unused-images.test.ts': {
      longSeconds: 30,
      proves: [...runtime, 'src/{services/registry,api}/**', 'dev/images/registry/**'],
    },
    'test/integration/tenant-page.test.ts': {
      longSeconds: 110,
      proves: [...packages, 'src/{broker,web,api}/**', 'test/browser/**'],
    },
  },
}

/** Cases of `proofs.ts`. */
export const singleFiles = Object.entries(files).flatMap(([part, ofPart]) =>
  Object.entries(ofPart).map(([file, { longSeconds, proves }]) => ({
    name: basename(file, '.test.ts'),
    unchanged: 'leave out' as const,
    proves,
    part,
    longSeconds,
    file,
  })),
)
