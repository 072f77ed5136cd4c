export const keysTexts = {
  parts: [
    [
      'Everywhere',
      [
        ['Search', '/'],
        ['Move in suggestions, close them', '↓ ↑, Esc'],
        ['This list', '?'],
      ],
    ],
    [
      'Results',
      [
        ['From the filters to the results', '“Skip to the results”, Tab after the search'],
        ['Move', 'Arrow keys, Page Up, Page Down, Home, End'],
        ['Open', 'Enter'],
        ['Quick look, and close it', 'Space'],
        ['Previous, next in a quick look', '←\u00a0→'],
        ['Select', 'X, or Tab and Space'],
        ['Select a range', 'Shift+X, or Shift and a click'],
      ],
    ],
    [
      'Files of an asset',
      [
        ['Open a menu, move in it', '↓ ↑'],
        ['Move a file or folder', 'Drag it onto a folder, or “Move” of its menu'],
        ['The menu of the file that has the focus', 'Shift+F10'],
        ['Choose', 'Enter'],
        ['Close a menu or a window', 'Esc'],
      ],
    ],
    [
      'Models and images',
      [
        ['Turn a model', 'Drag, or arrow keys'],
        ['Move a model', 'Right-drag, or Shift and drag, or Shift+arrow keys'],
        ['Zoom', 'Wheel, two fingers, or +\u00a0and\u00a0−'],
        ['An image in its own size', '1'],
        ['Move a zoomed image', 'Drag, or arrow keys'],
        ['Fit', 'F'],
      ],
    ],
  ],
} as const;
