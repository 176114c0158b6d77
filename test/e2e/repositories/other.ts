// Repositories in languages that no buildpack of the platform builds.
import { buildFails, type Repository } from './repository.ts'

const files: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ruby: { Gemfile: "source 'https://rubygems.org'\n", 'config.ru': "run ->(_) { [200, {}, ['ruby']] }\n" },
  go: { 'go.mod': 'module stall\n\ngo 1.24\n', 'main.go': 'package main\n\nfunc main() {}\n' },
  java: { 'pom.xml': '<project/>\n' },
  php: { 'composer.json': '{}\n', 'index.php': '<?php echo 1;\n' },
}

export const otherRepositories: readonly Repository[] = Object.entries(files).map(([language, content]) => ({
  what: `a language without a buildpack: ${language}`,
  name: `repo-${language}`,
  files: content,
  becomes: buildFails(/no buildpack can build this folder.*Dockerfile/s),
  maxSeconds: 24,
}))
