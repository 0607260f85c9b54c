from crossarc.cli import main

main()
