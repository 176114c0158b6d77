// The fields of a RemoteSync, and of the template of an AppPipeline, that say when and how an image is built.
import { posix } from 'node:path'
import { buildResourcesField, dnsLabel, dockerfileField, environmentField, objectName } from '../../schema/fields.ts'
import { choice, flag, integer, list, object, optional, type Rule, text } from '../../schema/schema.ts'

/** One pattern of `spec.paths`. */
export const pathPattern = text({
  description:
    'A path or a glob from the root of the repository: `services/api` means everything below it, `*` stands for characters other than `/`, `**` for any folders, a leading `!` excludes.',
  max: 256,
  pattern: '^!?[^/! ](.*[^ ])?$',
})

/** `spec.paths`; `isMeant` in src/controllers/kit/repository/path-filter.ts reads it. */
export const pathsField = list(pathPattern, {
  description:
    'Build a new commit only when a file under one of these paths has changed since the commit that was built last, for example because the repository holds several applications. When omitted, every new commit is built.',
  min: 1,
  max: 50,
  unique: 'set',
})

/** `spec.subPath`. */
export const subPathField = text({
  description:
    'The folder of the application in the repository, such as `services/api`. The root of the repository when omitted.',
  max: 512,
  pattern: '^[^/ ](.*[^ ])?$',
})

/** Where `subPath` is in the folder that `build.root` builds, `.` for the whole of it; undefined without `build.root`. */
export function folderInBuild({ subPath = '.', build: { root } }: Folders): string | undefined {
  return root === undefined ? undefined : posix.relative(posix.normalize(root), posix.normalize(subPath)) || '.'
}

type Folders = { readonly subPath?: string; readonly build: { readonly root?: string } }

/** For the object that has `subPath` and `build`. */
export const subPathRules: readonly Rule[] = [
  {
    rule: "!has(self.subPath) || !self.subPath.split('/').exists(p, p == '..')",
    message: 'subPath must stay inside the repository',
    fieldPath: '.subPath',
  },
  {
    rule: "!has(self.build) || !has(self.build.root) || (has(self.subPath) && (self.build.root == '.' || self.subPath.startsWith(self.build.root + '/')))",
    message:
      'build.root must be a folder above subPath, such as "." for the root of the repository: set subPath to the folder of the application',
    fieldPath: '.build.root',
  },
]

/** `spec.build`. */
export const buildField = object(
  {
    strategy: choice(['Buildpacks', 'Dockerfile'], {
      description:
        '`Buildpacks` finds out by itself what the repository needs (Cloud Native Buildpacks). `Dockerfile` builds what a Dockerfile in the repository says (BuildKit).',
      default: 'Buildpacks',
    }),
    timeoutSeconds: integer({
      description: 'How long one build may take, in seconds. A build that takes longer is ended and counts as failed.',
      min: 30,
      max: 7200,
      default: 900,
    }),
    root: optional(
      text({
        description:
          'The folder that is built, where `subPath` is only one application of it: the root of the workspace (npm, pnpm, yarn) with its lock file and shared packages, `.` for the root of the repository. The processes are those of `subPath` and start there. When omitted, `subPath` is built alone.',
        max: 512,
        pattern: '^(\\.|[^/. ](.*[^/ ])?)$',
      }),
    ),
    env: optional(environmentField('Environment variables of the build.', 50)),
    secrets: optional(
      list(objectName('The name of an AppSecret in this namespace.'), {
        description:
          'AppSecrets whose values the build gets, for example the token of a private registry of packages: with buildpacks as files below `$SERVICE_BINDING_ROOT` (a key `type` says what the binding is), which the buildpacks of the platform also make variables of; with a Dockerfile by `RUN --mount=type=secret,id=<key>`. They are in no layer of the image, unless the build itself writes them there. Code that runs in the build can read them.',
        max: 10,
        unique: 'set',
      }),
    ),
    allowIncompleteSource: optional(
      flag({
        description:
          'Build although the folder of the application has submodules, which are empty folders in the build, or files in Git LFS, of which the build gets the pointers. Such a commit is refused otherwise (`SourceIncomplete`).',
      }),
    ),
    resources: optional(buildResourcesField),
    dockerfile: optional(dockerfileField),
    builder: optional(
      text({
        description:
          'The builder, with its own buildpacks and languages, by the name that a platform admin gave it. The builder of the tenant, or of the platform, when omitted.',
        max: 63,
        pattern: dnsLabel,
      }),
    ),
  },
  {
    description: 'How the image is built. Every field has a default.',
    default: {},
    rules: [
      {
        rule: "!has(self.dockerfile) || self.strategy == 'Dockerfile'",
        message: 'dockerfile is used with strategy Dockerfile only: set build.strategy, or remove build.dockerfile',
        fieldPath: '.dockerfile',
      },
      {
        rule: "!has(self.root) || self.strategy == 'Buildpacks'",
        message: 'root is used with strategy Buildpacks only: with a Dockerfile omit subPath, and set build.dockerfile.path',
        fieldPath: '.root',
      },
      {
        rule: "!has(self.root) || !self.root.split('/').exists(p, p == '..')",
        message: 'root must stay inside the repository',
        fieldPath: '.root',
      },
    ],
  },
)
