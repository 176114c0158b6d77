// The direction of imports, and the only folder that may import each library. Each message says where to go instead.
const processes = 'broker|controllers|admission|authorizer|data-services|cli'
/** What a service of the controllers' process may use of the others; the rest use none. */
const serviceRooms = {
  'token-desk': 'redelivery',
  redelivery: 'token-desk',
  'git-proxy': 'token-desk',
  builds: 'registry',
  'image-cleanup': 'registry|builds',
  'followed-tags': 'registry',
}
const foundations = 'api|lib|kube|policy|identity|github|store|web'
const layer = (name, from, to, comment) => ({ name, severity: 'error', comment, from: { path: from }, to: { path: to } })

/** What each room of dev may import of the others. Rooms that only start another one as a process import nothing of it. */
const developmentRooms = {
  check: 'generate',
  cluster: '',
  'command-line': '',
  github: '',
  postgres: 'cluster',
  versitygw: 'cluster',
  images: 'cluster',
  kpack: 'cluster|images',
  up: 'cluster|postgres|images|versitygw',
  demo: 'cluster|up|images',
  attack: 'cluster|up|demo',
  generate: 'github|attack|up',
  test: 'cluster|up',
  'inner-loop': 'test',
}
/** The rooms of the GitHub emulator, from the state up to the server, and what each may import of the others. */
const emulatorRooms = {
  state: '',
  git: '',
  tokens: 'state',
  faults: 'state',
  views: 'state|git',
  webhooks: 'state|faults|views',
  actions: 'state|git|tokens|faults|views|webhooks',
  'rest/protocol': 'state|tokens|faults',
  rest: 'state|tokens|faults|views|webhooks|actions',
  pages: 'state|tokens|views|actions',
  oauth: 'state|tokens|actions|pages',
  'git-http': 'state|tokens|git|actions',
  control: 'state|faults|rest/protocol',
  server: 'state|tokens|faults|actions|rest|pages|oauth|git-http|control',
  seed: 'state|git|tokens',
}
const alternatives = (...names) => names.filter(name => name !== '').join('|')

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Find the idea both share and give it its own file.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'Nothing imports it: wire it or delete it.',
      from: {
        orphan: true,
        pathNot: [
          '\\.test\\.ts$',
          '^dev/.*main\\.ts$',
          '^test/',
          '\\.config\\.ts$',
          'worker\\.ts$',
          'standalone\\.ts$',
          '^src/(services/network-probe|broker|controllers|admission|authorizer|data-services)/main\\.ts$',
          '^src/store/migrate-main\\.ts$',
          '^src/retention/main\\.ts$',
          '^src/services/builds/source-store/main\\.ts$',
          '/charts/',
          '/modules/',
          '-worker\\.ts$',
        ],
      },
      to: {},
    },
    layer('lib-knows-nothing', '^src/lib', '^src/(?!lib)', 'lib has no domain and imports nothing of ours.'),
    layer('api-on-lib', '^src/api', '^src/(?!api|lib)', 'Kinds are data: they know lib only.'),
    layer(
      'kube-on-api-lib',
      '^src/kube',
      '^src/(?!kube|api|lib)',
      'The runtime knows Kubernetes, no kind of ours and no process.',
    ),
    ...Object.entries({
      queue: '',
      client: '',
      kubeconfig: 'client|',
      object: 'client|queue|',
      cache: 'client|metrics|',
      lease: 'client|',
      controller: 'client|object|cache|queue|metrics|',
    }).map(([part, may]) =>
      layer(
        `kube-${part}-arrows`,
        `^src/kube/${part}/(?!.*\\.test\\.ts$)`,
        `^src/kube/(?!${may}${part}/)`.replaceAll('|', '\\b|'),
        'Inside the runtime arrows point one way; the manager puts the parts together (src/kube/README.md).',
      ),
    ),
    layer(
      'kube-metrics-arrows',
      '^src/kube/metrics\\.ts$',
      '^src/kube/(?!(client|queue)/)',
      'Metrics name what they count; the parts that are counted import metrics.',
    ),
    layer(
      'kubeconfig-on-connection',
      '^src/kube/kubeconfig/(?!.*\\.test\\.ts$)',
      '^src/(?!kube/kubeconfig/|kube/client/connection\\.ts$|lib/)',
      'The reader of kubeconfigs produces a KubeConnection; it knows nothing else of the runtime.',
    ),
    layer('policy-is-pure', '^src/policy', '^src/(?!policy|api|lib)', 'Policy gets facts and gives decisions.'),
    layer(
      'identity-on-lib-api',
      '^src/identity',
      '^src/(?!identity|api|lib)',
      'identity signs and verifies; it knows no process and no store.',
    ),
    layer(
      'github-on-lib-api',
      '^src/github',
      '^src/(?!github|api|lib)',
      'The clients of GitHub know no process, no store and no Kubernetes.',
    ),
    layer('object-store-on-lib', '^src/object-store', '^src/(?!object-store|lib)', 'A client of S3 has no domain.'),
    layer('store-on-lib', '^src/store', '^src/(?!store|api|lib)', 'The store knows no process.'),
    layer(
      'process-on-foundations',
      '^src/process',
      '^src/(?!process|api|lib|kube|web)',
      'What all processes begin with knows none of them, and opens nothing that not all of them need.',
    ),
    layer(
      'process-from-main-only',
      '^src/(?!process/|standalone\\.ts$|.*/main\\.ts$)',
      '^src/process/',
      'Only the entry points open a process; everything else gets its parts from them.',
    ),
    ...Object.entries({
      admission:
        'store|object-store|kube|github|identity/(?!sealed-values/(seal|place)\\.ts)|policy|services|broker|controllers|data-services',
      authorizer: 'store|object-store|kube|github|identity|policy|services|broker|controllers|admission|data-services',
      broker: 'services|controllers|admission|authorizer|data-services',
      controllers: 'object-store|broker|admission|authorizer|data-services|identity/oidc',
      'data-services': 'store|github|identity|services|broker|controllers/(?!kit/)|admission|authorizer',
    }).map(([name, never]) => ({
      name: `${name}-never-loads`,
      severity: 'error',
      comment: 'What a process must never hold it does not even load: ARCHITECTURE.md, the column “never holds”.',
      from: { path: `^src/${name}/main\\.ts$` },
      to: { path: `^src/(${never})`, reachable: true },
    })),
    layer(
      'retention-on-store-identity',
      '^src/retention/(?!.*\\.test\\.ts$)',
      '^src/(?!retention/|store/|identity/|api/|lib/)',
      'The program that cuts the audit log reads the database and what was signed, and talks to nobody.',
    ),
    layer('web-on-lib', '^src/web', '^src/(?!web|api|lib)', 'Plumbing shared by processes knows none of them.'),
    layer(
      'services-on-foundations',
      '^src/services/(?!.*/main\\.ts$)',
      `^src/(?!(services|${foundations})/)`,
      'A service offers a port to controllers and knows no controller and no process.',
    ),
    {
      name: 'services-know-no-sibling',
      severity: 'error',
      comment: 'A service uses another one only where serviceRooms says so.',
      from: { path: '^src/services/([^/]+)/', pathNot: `^src/services/(${Object.keys(serviceRooms).join('|')})/` },
      to: { path: '^src/services/[^/]+/', pathNot: '^src/services/$1/' },
    },
    ...Object.entries(serviceRooms).map(([name, may]) =>
      layer(
        `${name}-as-agreed`,
        `^src/services/${name}/`,
        `^src/services/(?!(${name}|${may})/|[^/]+\\.ts$)`,
        'A service uses another one only where serviceRooms says so.',
      ),
    ),
    {
      name: 'admission-reaches-nothing',
      severity: 'error',
      comment:
        'The webhook calls nobody and keeps nothing: not even by way of another module does it load a client or a store. Of identity it loads what encrypts to a public key, and nothing that opens or signs.',
      from: { path: '^src/admission/main\\.ts$' },
      to: {
        path: '^src/((kube|github|store|services)/|identity/(?!sealed-values/(seal|place)\\.ts))',
        reachable: true,
      },
    },
    layer(
      'services-in-controllers-only',
      '^src/(broker|admission|authorizer|data-services|cli)/',
      '^src/services/',
      "Services belong to the controllers' process, which holds the App keys.",
    ),
    {
      name: 'controllers-know-no-sibling',
      severity: 'error',
      comment:
        'A controller learns of another kind from its objects; what two controllers share is a file of src/controllers/kit or a service.',
      from: { path: '^src/controllers/([^/]+)/' },
      to: { path: '^src/controllers/[^/]+/', pathNot: '^src/controllers/($1|kit)/' },
    },
    {
      name: 'data-services-know-no-sibling',
      severity: 'error',
      comment: 'What two controllers of services share is a file of src/data-services, an adapter, or of src/controllers/kit.',
      from: { path: '^src/data-services/(service-[^/]+|bucket)/' },
      to: { path: '^src/data-services/(service-[^/]+|bucket)/', pathNot: '^src/data-services/$1/' },
    },
    layer(
      'adapters-know-no-cluster',
      '^src/data-services/(adapters|proofs|slots)/(?!.*\\.test\\.ts$)',
      '^src/(?!data-services/(adapters|proofs|slots)/|object-store/|lib/)',
      'An adapter speaks to a server, and knows nothing of Kubernetes.',
    ),
    ...['broker', 'controllers', 'admission', 'authorizer', 'data-services', 'cli'].map(name =>
      layer(
        `${name}-alone`,
        `^src/${name}`,
        `^src/(${processes
          .split('|')
          .filter(other => other !== name)
          .join('|')})/${name === 'data-services' ? '(?!kit/)' : ''}`,
        'Processes never import each other: they meet in the Kubernetes API, and in the tables that src/store/access/rights.ts gives to both.',
      ),
    ),
    layer(
      'cli-on-lib-api-kube',
      '^src/cli/(?!.*\\.test\\.ts$)',
      '^src/(?!cli|lib/|api/|identity/|policy/|kube/(client|kubeconfig|object)/)',
      'The CLI acts with the rights of a person: of the runtime it uses the client, the reader of kubeconfigs the pure functions on objects and the pure decisions, and no cache, queue or controller.',
    ),
    layer(
      'src-not-from-outside',
      '^src(?!.*[.]test[.]ts$)',
      '^(dev|test)/',
      'The product does not know its development environment.',
    ),
    {
      name: 'prisma-only-in-store',
      severity: 'error',
      comment: 'Use a repository of src/store; databases of tenants are reached by src/data-services/adapters/postgresql.',
      from: {
        path: '^(src|test)',
        pathNot:
          '^(src/(store|data-services/adapters/postgresql)|test/integration/data-services[.]test|test/fixtures/database-services[.]ts)',
      },
      to: { path: 'node_modules/(@prisma|pg|pglite-prisma-adapter|@electric-sql)/' },
    },
    {
      name: 'aws-only-in-object-store-and-the-adapter',
      severity: 'error',
      comment:
        'Use src/object-store, which owns keys, limits and errors of stores of objects, or src/data-services/adapters/s3 for buckets of tenants.',
      from: {
        path: '^(src|dev|test)',
        pathNot:
          '^(src/(object-store|data-services/adapters/s3)/|test/integration/(bucket-(store|lifecycle)|buckets|preview-services)[.]test|test/sweep/environment/tenants-store[.]ts|test/bench/(services/(servers|pods)|previews/own-services)[.]ts)',
      },
      to: { path: 'node_modules/@(aws-sdk|smithy)/' },
    },
    layer(
      'pg-in-database-audit-inbox',
      '^src/store/(?!(database|audit|inbox|access)/|.*[.]test[.]ts$)',
      'node_modules/(@types/)?pg/',
      'Use Prisma: only the audit log and the inbox are SQL over the driver, wholly (docs/adr/0013).',
    ),
    layer(
      'audit-and-inbox-without-prisma',
      '^src/store/(audit|inbox)/',
      '^src/store/generated/|node_modules/@prisma/',
      'Use the pool: these two aggregates are SQL over the driver, wholly (docs/adr/0013).',
    ),
    {
      name: 'octokit-only-in-github',
      severity: 'error',
      comment: 'Use src/github: it owns tokens, limits and errors.',
      from: { path: '^src', pathNot: '^src/github' },
      to: { path: 'node_modules/@octokit/' },
    },
    {
      name: 'jose-only-in-identity',
      severity: 'error',
      comment: 'Use src/identity: it owns algorithms and claims.',
      from: { path: '^src', pathNot: '^src/(identity|cli)' },
      to: { path: 'node_modules/(jose|oidc-provider|@peculiar/x509)/' },
    },
    {
      name: 'openid-client-only-in-cli',
      severity: 'error',
      comment: 'Only the CLI is an OIDC client.',
      from: { path: '^src', pathNot: '^src/cli' },
      to: { path: 'node_modules/openid-client/' },
    },
    {
      name: 'kubernetes-client-only-in-kubeconfig',
      severity: 'error',
      comment: 'Use src/kube/client: it owns requests, the write gate and errors.',
      from: { path: '^src', pathNot: '^src/kube/kubeconfig' },
      to: { path: 'node_modules/@kubernetes/client-node', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'casbin-only-in-policy',
      severity: 'error',
      comment: 'Use src/policy.',
      from: { path: '^src', pathNot: '^src/policy' },
      to: { path: 'node_modules/casbin/' },
    },
    {
      name: 'cdk8s-only-in-charts',
      severity: 'error',
      comment: 'Charts live in src/services/charts.',
      from: { path: '^src', pathNot: '^src/services/charts' },
      to: { path: 'node_modules/(cdk8s|cdk8s-plus-33|constructs)/' },
    },
    {
      name: 'pure-decisions',
      severity: 'error',
      comment: 'gather reads, reconcile writes; decide, desired and status are functions of facts.',
      from: { path: '^src/(controllers|data-services)/.*/(checks|decide|decide-[a-z]+|desired|status|halt)\\.ts$' },
      to: {
        path: '^(src/store|src/github/(?!types)|src/kube/(client/(?!errors|client[.]ts)|manager))|undici|^(node:)?(fs|child_process|http|https|net)$',
        dependencyTypesNot: ['type-only'],
      },
    },
    ...Object.entries(developmentRooms).map(([room, may]) =>
      layer(
        `dev-${room}-arrows`,
        `^dev/${room}/(?!.*\\.test\\.ts$)${room === 'up' ? '(?!main\\.ts$)' : ''}`,
        `^(test|dev/(?!(${alternatives(room, may)})/))`,
        'Tools of dev build on dev/cluster and on each other in one direction (developmentRooms); dev/up/main.ts alone also starts the demo.',
      ),
    ),
    layer(
      'dev-tools-on-lib',
      '^dev/(?!generate|demo)(?!.*\\.test\\.ts$)',
      '^src/(?!lib/|[^.]*/config\\.ts$)',
      'A tool of dev that needs more of the product than src/lib and its tables of settings would break with it; start the product as a process instead.',
    ),
    layer(
      'demo-on-kinds',
      '^dev/demo',
      '^src/(?!(api|lib)/)',
      'The demo uses the product as people do: by its pages, its command line and its kinds.',
    ),
    ...Object.entries(emulatorRooms).map(([room, may]) =>
      layer(
        `emulator-${room.replace('/', '-')}-arrows`,
        `^dev/github/${room}/(?!.*\\.test\\.ts$)`,
        `^dev/github/(?!(${alternatives(room, may)})/)`,
        'Inside the emulator arrows point from the server down to the state (emulatorRooms); declare what a layer needs in its own context.ts.',
      ),
    ),
    layer(
      'emulator-testing-for-tests',
      '^dev/github/(?!testing|contract)(?!.*\\.test\\.ts$)',
      '^dev/github/(testing|contract)/',
      'testing/ and contract/ serve the tests and the generated reference; the emulator itself does not use them.',
    ),
  ],
  options: {
    doNotFollow: { path: ['node_modules', 'src/store/generated'] },
    // The entry of the generated client stays a module, so that rules can name who imports it.
    exclude: { path: ['src/store/generated/(?!client[.]ts)', 'dev/cluster/modules', 'deploy/examples'] },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
}
