// npm, pnpm and yarn: what they say when packages cannot be installed. Source: https://docs.npmjs.com/common-errors
import { type CleanLog, group, type Rule } from '../rule.ts'

/** The package of `/workspace/node_modules/<package>` or of a folder of the application, or the application itself. */
function packageAt(path: string): string {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1] ?? /^\/workspace\/(.+)$/.exec(path)?.[1]
  return name === undefined ? 'the application' : `package ${name}`
}

/** What a script printed before npm reported its failure. */
function outputOfScript({ text, lines }: CleanLog): string {
  const errors = [...text.matchAll(/^npm error (?!code|path|command|errno|syscall)(\S.*)$/gm)].map(match => group(match, 1))
  const before = lines[lines.findIndex(line => line.startsWith('npm error')) - 1]
  const printed = before === undefined || /^(?:> |sekisho\/)/.test(before) ? undefined : before
  const telling = errors.find(line => /^\w*Error\b/.test(line)) ?? errors.at(-1) ?? printed
  return telling === undefined ? '' : `: ${telling.slice(0, 200)}`
}

const privateCure =
  'put the token into an AppSecret, name it in spec.build.secrets, and refer to it in .npmrc as $' + '{NAME_OF_THE_KEY}'

export const unknownVersion = (wanted: string): string =>
  `the registry has no version that matches ${wanted}: correct the version in package.json`

export const unknownPackage = (name: string): string =>
  `the registry has no package ${name}, or does not show it to this build: correct its name in package.json; for a private package ${privateCure}`

export const packageManagerRules: readonly Rule[] = [
  {
    pattern: /Missing script: "(.+?)"/m,
    say: match =>
      `package.json has no script "${group(match, 1)}", which the build runs: add it to scripts, or correct the command`,
  },
  {
    pattern: /`npm ci` can only install packages when your package\.json and (package-lock\.json|npm-shrinkwrap\.json)/m,
    say: (_match, { text }) => {
      const detail = /^npm error ((?:Missing|Invalid): .+)$/m.exec(text)?.[1]
      return `package-lock.json does not agree with package.json${detail === undefined ? '' : ` (${detail})`}: run "npm install" and commit package-lock.json`
    },
  },
  {
    pattern: /The `npm ci` command can only install with an existing package-lock\.json/m,
    say: () =>
      'package-lock.json cannot be read, for example because of an unresolved merge conflict: run "npm install" and commit package-lock.json',
  },
  {
    pattern: /ERR_PNPM_OUTDATED_LOCKFILE/m,
    say: () => 'pnpm-lock.yaml does not agree with package.json: run "pnpm install" and commit pnpm-lock.yaml',
  },
  {
    pattern: /Your lockfile needs to be updated, but yarn was run with|The lockfile would have been modified by this install/m,
    say: () => 'yarn.lock does not agree with package.json: run "yarn install" and commit yarn.lock',
  },
  {
    pattern: /^npm error code ETARGET$/m,
    say: (_match, { text }) => {
      const wanted = /No matching version found for (.+?)\.?$/m.exec(text)?.[1] ?? 'a package'
      return unknownVersion(wanted)
    },
  },
  {
    pattern: /^npm error code E404$/m,
    say: (_match, { text }) => {
      const name = /'(.+?)' (?:could not be found|is not in this registry)/.exec(text)?.[1] ?? 'a package'
      return unknownPackage(name)
    },
  },
  {
    pattern: /^npm error code (E40[13])$/m,
    say: (match, { text }) => {
      const address = /(https?:\/\/[^\s]+)/.exec(text)?.[1] ?? 'the registry of packages'
      const status = group(match, 1).slice(1)
      const variable = /\.npmrc refers to \$\{(\w+)\}/.exec(text)?.[1]
      if (variable !== undefined)
        return `${address} refused this build (${status}), because .npmrc refers to \${${variable}} and the build has no variable of this name: name the AppSecret with it in spec.build.secrets`
      return `${address} refused this build (${status}): its credential is missing, wrong or has too few rights; ${privateCure}`
    },
  },
  {
    pattern: /^npm error code E(5\d\d)$/m,
    say: match => `the registry of packages answered with an error of its own (${group(match, 1)}): try again later`,
  },
  {
    pattern: /^npm error code ERESOLVE$/m,
    say: (_match, { text }) => {
      const [, needed, by] = /^npm error\s+peer (\S+) from (?:the root project|(\S+))/m.exec(text) ?? []
      const found = /^npm error Found: (\S+)$/m.exec(text)?.[1] ?? 'another version'
      const conflict =
        needed === undefined
          ? 'packages want versions that exclude each other'
          : `${by ?? 'the application'} needs ${needed.replaceAll('"', '')} as a peer, and ${found} is wanted`
      return `${conflict} (ERESOLVE): choose versions that fit, or write legacy-peer-deps=true into .npmrc`
    },
  },
  {
    pattern: /^npm error code EINTEGRITY$/m,
    say: () =>
      'a package is not the one that package-lock.json names (EINTEGRITY): when the registry is the right one, remove node_modules and package-lock.json, run "npm install" and commit the new lock file',
  },
  {
    pattern: /^npm error code EBADENGINE$/m,
    say: (_match, { text }) => {
      const wanted = /^npm error notsup Required: (.+)$/m.exec(text)?.[1] ?? 'another version'
      return `a package does not accept the Node.js of this builder (it requires ${wanted}): use another version of the package`
    },
  },
  {
    pattern: /syscall spawn git\b|spawn git ENOENT/m,
    say: () =>
      'a dependency is fetched by git, which the builder does not have: use the package of a registry, or an address of a tarball (https://codeload.github.com/…/tar.gz/…)',
  },
  {
    pattern: /\bgyp ERR!/m,
    say: (_match, { text }) => {
      const path = /^npm error path (.+)$/m.exec(text)?.[1]
      return `${path === undefined ? 'a package' : packageAt(path)} has native code, and it could not be compiled: use a version with prebuilt binaries, list what it needs in a file Aptfile, or build with a Dockerfile`
    },
  },
  {
    pattern: /^npm error command sh -c (.+)$/m,
    say: (match, log) => {
      const path = /^npm error path (.+)$/m.exec(log.text)?.[1] ?? ''
      return `an install script of ${packageAt(path)} failed (${group(match, 1).slice(0, 120)})${outputOfScript(log)}`
    },
  },
]
