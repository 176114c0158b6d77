// Repositories of Python: the tools that say what is installed, and what an image has to have for it.
import { uvLock } from './lock-files.ts'
import { json, type Repository, served } from './repository.ts'

/** Answers every request with the value of an expression. */
function server(imports: readonly string[], expression: string): string {
  return [
    'import os',
    'from http.server import BaseHTTPRequestHandler, HTTPServer',
    ...imports,
    '',
    'class Handler(BaseHTTPRequestHandler):',
    '    def do_GET(self):',
    '        self.send_response(200)',
    '        self.end_headers()',
    `        self.wfile.write(str(${expression}).encode())`,
    '',
    'HTTPServer(("", int(os.environ["PORT"])), Handler).serve_forever()',
    '',
  ].join('\n')
}

export const pythonRepositories: readonly Repository[] = [
  {
    what: 'Flask behind gunicorn',
    name: 'repo-flask',
    files: {
      'requirements.txt': 'flask==3.1.3\ngunicorn==23.0.0\n',
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n@app.get("/")\ndef index():\n    return "flask"\n',
      Procfile: 'web: gunicorn --bind 0.0.0.0:$PORT app:app\n',
    },
    becomes: served('flask'),
    maxSeconds: 60,
  },
  {
    what: 'psycopg2 from source, with a compiler and a header of Debian',
    name: 'repo-psycopg2',
    files: {
      Aptfile: 'libpq-dev\n',
      'requirements.txt': 'psycopg2==2.9.10 --no-binary psycopg2\n',
      'main.py': server(['import psycopg2'], 'psycopg2.__version__'),
    },
    becomes: served('2.9.10'),
    maxSeconds: 120,
  },
  {
    what: 'uv',
    name: 'repo-uv',
    files: {
      'pyproject.toml':
        '[project]\nname = "stall"\nversion = "1.0.0"\nrequires-python = ">=3.11"\ndependencies = ["iniconfig==2.0.0"]\n',
      'uv.lock': uvLock,
      'main.py': server(['import iniconfig'], 'iniconfig.__name__'),
    },
    becomes: served('iniconfig'),
    maxSeconds: 60,
  },
  {
    what: 'poetry without a package of its own, without a lock file',
    name: 'repo-poetry',
    files: {
      'pyproject.toml':
        '[tool.poetry]\npackage-mode = false\n[tool.poetry.dependencies]\npython = "^3.11"\niniconfig = "2.0.0"\n[build-system]\nrequires = ["poetry-core>=1.8"]\nbuild-backend = "poetry.core.masonry.api"\n',
      'main.py': server(['import iniconfig'], 'iniconfig.__name__'),
      Procfile: 'web: python main.py\n',
    },
    becomes: served('iniconfig'),
    maxSeconds: 90,
  },
  {
    what: 'time zones, and a version with a comment',
    name: 'repo-zones',
    files: {
      '.python-version': '# keep in step with CI\n3.11\n',
      'requirements.txt': '',
      'main.py': server(['import zoneinfo'], 'zoneinfo.ZoneInfo("Europe/Berlin")'),
    },
    becomes: served('Europe/Berlin'),
    maxSeconds: 52,
  },
]

export const staticRepositories: readonly Repository[] = [
  {
    what: 'a static site of 2,001 files',
    name: 'repo-many-files',
    files: Object.fromEntries([
      ['index.html', 'many'],
      ...Array.from({ length: 2000 }, (_, index) => [`p/${index}.html`, `page ${index}`]),
    ]),
    becomes: served('page 1999', '/p/1999.html'),
    maxSeconds: 50,
  },
  {
    what: 'clean URLs beside a folder of the same name',
    name: 'repo-clean-urls',
    files: {
      'static.json': json({ clean_urls: true }),
      'index.html': 'home',
      'blog.html': 'the blog',
      'blog/first.html': 'first',
    },
    becomes: served('the blog', '/blog'),
    maxSeconds: 30,
  },
]
