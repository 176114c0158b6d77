// The programs that the local cluster runs and where each comes from: its Go module folder, packages, flags and download.
// Data only: nothing here builds or downloads. A new program is one entry.
export type Download = {
  /** One file per program, or one archive that holds them. `{arch}` and `{program}` are filled in. */
  readonly url: string
  /** Address of the publisher's SHA-256; in a list of several, the line that ends with the file's name counts. */
  readonly checksumUrl: string
  /** Path inside a .tar.gz; absent: the file is the program itself. */
  readonly memberOf?: string
}

/**
 * Files of a required module that a file of ours stands in for, because the originals cost minutes to compile and are not used
 * here.
 */
export type StubbedFile = {
  /** Path of the module; each stub has a module of its own. */
  readonly module: string
  /** Path inside the module. */
  readonly file: string
  /** Path inside the entry's module folder; a Go file at its top level. */
  readonly stub: string
  /** Paths inside the module of files that the stub stands in for, too. */
  readonly without?: readonly string[]
}

/** A required module of which a patch of ours mends a defect that its publisher has not mended. */
export type PatchedModule = {
  /** Path of the module; no stub has the same one. */
  readonly module: string
  /** Path inside the entry's module folder, of a `.patch` as `git diff` writes it, with paths inside the module. */
  readonly patch: string
}

export type CatalogEntry = {
  readonly name: string
  readonly version: string
  /** Folder below dev/cluster/modules. */
  readonly module: string
  /** What `go build` makes: file name → package. */
  readonly builds: Readonly<Record<string, string>>
  /** One combined binary that becomes several programs by its name: link → file. */
  readonly links: Readonly<Record<string, string>>
  readonly ldflags: readonly string[]
  readonly tags: readonly string[]
  /** Of builds from source only: a download is the publisher's own program. */
  readonly stubs?: readonly StubbedFile[]
  /** The same. */
  readonly patches?: readonly PatchedModule[]
  readonly download?: Download
  /** How long a build with empty caches takes, for the progress message. */
  readonly coldBuild: string
}

const kubernetesVersion = '1.35.4'

function versionFlags(version: string): readonly string[] {
  const [major, minor] = version.split('.')
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap(target => [
    `-X ${target}.gitVersion=v${version}`,
    `-X ${target}.gitMajor=${major}`,
    `-X ${target}.gitMinor=${minor}`,
  ])
}

export const kubernetesPrograms = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
] as const

export const lifecycleVersion = '0.20.12'
export const kpackVersion = '0.17.2'
export const buildkitVersion = '0.33.1'
export const kpackPrograms = ['build-init', 'completion', 'controller', 'rebase', 'webhook'] as const

export const catalog = {
  etcd: {
    name: 'etcd',
    version: '3.6.13',
    module: 'etcd',
    builds: { etcd: 'go.etcd.io/etcd/server/v3' },
    links: {},
    ldflags: ['-s', '-w'],
    tags: [],
    download: {
      url: 'https://github.com/etcd-io/etcd/releases/download/v3.6.13/etcd-v3.6.13-linux-{arch}.tar.gz',
      checksumUrl: 'https://github.com/etcd-io/etcd/releases/download/v3.6.13/SHA256SUMS',
      memberOf: 'etcd-v3.6.13-linux-{arch}/{program}',
    },
    coldBuild: '1 minute on 2 cores',
  },
  kubernetes: {
    name: 'kubernetes',
    version: kubernetesVersion,
    module: 'kubernetes',
    builds: { kubernetes: '.' },
    links: Object.fromEntries(kubernetesPrograms.map(program => [program, 'kubernetes'])),
    ldflags: ['-s', '-w', ...versionFlags(kubernetesVersion)],
    tags: [],
    download: {
      url: `https://dl.k8s.io/v${kubernetesVersion}/bin/linux/{arch}/{program}`,
      checksumUrl: `https://dl.k8s.io/v${kubernetesVersion}/bin/linux/{arch}/{program}.sha256`,
    },
    coldBuild: '6 minutes on 2 cores',
  },
  pause: {
    name: 'pause',
    version: '1',
    module: 'pause',
    builds: { pause: '.' },
    links: {},
    ldflags: ['-s', '-w'],
    tags: [],
    coldBuild: 'seconds',
  },
  coredns: {
    name: 'coredns',
    version: '1.14.6',
    module: 'coredns',
    builds: { coredns: '.' },
    links: {},
    ldflags: ['-s', '-w'],
    tags: [],
    coldBuild: '1 minute on 2 cores',
  },
  networkPolicies: {
    name: 'network-policies',
    version: '0.8.0',
    module: 'network-policies',
    builds: { 'network-policies': '.' },
    links: {},
    ldflags: ['-s', '-w'],
    tags: [],
    coldBuild: '2 minutes on 2 cores',
  },
  traefik: {
    name: 'traefik',
    version: '3.6.12',
    module: 'traefik',
    builds: { traefik: 'github.com/traefik/traefik/v3/cmd/traefik' },
    links: {},
    ldflags: ['-s', '-w'],
    tags: [],
    // The local cluster asks no certificate authority, where a third of all packages are clients of DNS providers for ACME, and
    // has no tasks of Amazon ECS, whose client is a seventh of what remains.
    stubs: [
      { module: 'github.com/go-acme/lego/v4', file: 'providers/dns/zz_gen_dns_providers.go', stub: 'dns_providers.go' },
      {
        module: 'github.com/traefik/traefik/v3',
        file: 'pkg/provider/ecs/ecs.go',
        stub: 'ecs_provider.go',
        without: ['pkg/provider/ecs/config.go', 'pkg/provider/ecs/label.go'],
      },
    ],
    download: {
      url: 'https://github.com/traefik/traefik/releases/download/v3.6.12/traefik_v3.6.12_linux_{arch}.tar.gz',
      checksumUrl: 'https://github.com/traefik/traefik/releases/download/v3.6.12/traefik_v3.6.12_checksums.txt',
      memberOf: '{program}',
    },
    coldBuild: '4 minutes on 2 cores',
  },
  lifecycle: {
    name: 'lifecycle',
    version: lifecycleVersion,
    module: 'kpack',
    builds: {
      lifecycle: 'github.com/buildpacks/lifecycle/cmd/lifecycle',
      launcher: 'github.com/buildpacks/lifecycle/cmd/launcher',
    },
    links: {},
    ldflags: ['-s', '-w', `-X github.com/buildpacks/lifecycle/cmd.Version=${lifecycleVersion}`],
    tags: [],
    coldBuild: '1 minute on 2 cores',
  },
  kpack: {
    name: 'kpack',
    version: kpackVersion,
    module: 'kpack',
    builds: Object.fromEntries(kpackPrograms.map(program => [program, `github.com/pivotal/kpack/cmd/${program}`])),
    links: {},
    ldflags: ['-s', '-w', `-X github.com/pivotal/kpack/cmd.Version=${kpackVersion}`],
    tags: [],
    coldBuild: '3 minutes on 2 cores, after lifecycle',
  },
  buildkit: {
    name: 'buildkit',
    version: buildkitVersion,
    module: 'buildkit',
    builds: {
      buildctl: 'github.com/moby/buildkit/cmd/buildctl',
      buildkitd: 'github.com/moby/buildkit/cmd/buildkitd',
      rootlesskit: 'github.com/rootless-containers/rootlesskit/v2/cmd/rootlesskit',
    },
    links: {},
    ldflags: ['-s', '-w', `-X github.com/moby/buildkit/version.Version=v${buildkitVersion}`],
    // Without BuildKit's tags for static programs: builds are static anyway (CGO_ENABLED=0), and tags would have Go compile its
    // library again.
    tags: [],
    coldBuild: '3 minutes on 2 cores',
  },
  versitygw: {
    name: 'versitygw',
    version: '1.8.0',
    module: 'versitygw',
    builds: { versitygw: 'github.com/versity/versitygw/cmd/versitygw' },
    links: {},
    ldflags: ['-s', '-w', '-X main.Version=v1.8.0'],
    tags: [],
    // In 1.8.0 ids of uploads and names in DeleteObjects are paths, also out of the bucket: docs/guide/bucket-stores.md.
    patches: [{ module: 'github.com/versity/versitygw', patch: 'paths.patch' }],
    coldBuild: '1 minute on 2 cores',
  },
  promtool: {
    name: 'promtool',
    version: '3.13.5',
    module: 'promtool',
    builds: { promtool: 'github.com/prometheus/prometheus/cmd/promtool' },
    links: {},
    ldflags: ['-s', '-w'],
    // Rules and metrics are checked, never where to scrape: without the clients of thirty clouds the build takes half the time.
    tags: ['remove_all_sd'],
    download: {
      url: 'https://github.com/prometheus/prometheus/releases/download/v3.13.5/prometheus-3.13.5.linux-{arch}.tar.gz',
      checksumUrl: 'https://github.com/prometheus/prometheus/releases/download/v3.13.5/sha256sums.txt',
      memberOf: 'prometheus-3.13.5.linux-{arch}/{program}',
    },
    coldBuild: '3 minutes on 2 cores',
  },
  gvisor: {
    name: 'gvisor',
    version: '20260224',
    module: 'gvisor',
    builds: { runsc: 'gvisor.dev/gvisor/runsc', 'containerd-shim-runsc-v1': 'gvisor.dev/gvisor/shim' },
    links: {},
    ldflags: ['-s', '-w'],
    tags: [],
    stubs: [{ module: 'github.com/containerd/containerd', file: 'sys/oom_linux.go', stub: 'oom_score.go' }],
    coldBuild: '2 minutes on 2 cores',
  },
} as const satisfies Record<string, CatalogEntry>

/** The names by which a program of this entry can be called. */
export function programsOf(entry: CatalogEntry): readonly string[] {
  const links = Object.keys(entry.links)
  return links.length > 0 ? links : Object.keys(entry.builds)
}
